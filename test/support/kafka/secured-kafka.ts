// Starts a broker that accepts clients only with TLS and SASL.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LocalKafka, startKafka } from "../../../infra/local/start-kafka.js";
import { findFetchedKafka } from "../backends/local-parts.ts";
import type { Certificate } from "../tls/certificate.ts";

export const USER = "gate";
export const PASSWORD = "correct horse battery staple";

const PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required";
const SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;";
const HEAP_MB = 384;

export function startSecuredKafka(certificate: Certificate): Promise<LocalKafka> {
  const { certFile, cert, key } = certificate;
  const keystore = join(certFile, "..", "keystore.pem");
  writeFileSync(keystore, `${key}${cert}`, { mode: 0o600 });
  const version = findFetchedKafka();
  const client = "listener.name.client";
  return startKafka({
    ...(version === undefined ? {} : { version }),
    heapMb: HEAP_MB,
    scram: ["SCRAM-SHA-256", "SCRAM-SHA-512"].map(
      (mechanism) => `${mechanism}=[name=${USER},password=${PASSWORD}]`,
    ),
    properties: {
      "listener.security.protocol.map": "CLIENT:SASL_SSL,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
      [`${client}.ssl.keystore.type`]: "PEM",
      [`${client}.ssl.keystore.location`]: keystore,
      [`${client}.sasl.enabled.mechanisms`]: "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
      [`${client}.plain.sasl.jaas.config`]: `${PLAIN} user_${USER}="${PASSWORD}";`,
      [`${client}.scram-sha-256.sasl.jaas.config`]: SCRAM,
      [`${client}.scram-sha-512.sasl.jaas.config`]: SCRAM,
    },
  });
}
