/** The codec of a process on a cluster: with a registry's ids where there is one. */
import { type AvroCodec, createAvroCodec } from "../adapters/avro/codec.ts";
import { readSchemaFiles, type SchemaName } from "../adapters/avro/schema-files.ts";
import { TOPIC_SCHEMAS } from "../adapters/avro/schema-topics.ts";
import { readProblem } from "../adapters/avro/writer-schemas.ts";
import type { Config } from "../adapters/config/config-schema.ts";
import type { TopicNames } from "../adapters/kafka/topic-names.ts";
import { openRegistry } from "../adapters/registry/open-registry.ts";
import { createRegistryClient } from "../adapters/registry/registry-client.ts";
import { subjectOf } from "../adapters/registry/subjects.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { TOPICS } from "../runtime/topics.ts";

export type OpenedCodec = { readonly codec: AvroCodec; close(): void };

/**
 * @param secrets what idempotency keys are made with, by key id; may be empty where none are made.
 * @throws RetryableError where the registry does not answer; FatalError where it does not fit.
 */
export async function openCodec(
  config: Config,
  names: TopicNames,
  secrets: ReadonlyMap<string, Uint8Array>,
): Promise<OpenedCodec> {
  const schemas = readSchemaFiles();
  const { registry } = config;
  if (registry === undefined) {
    return { codec: createAvroCodec({ secrets, schemas }), close: () => undefined };
  }
  const client = createRegistryClient({
    url: registry.url,
    clientId: config.kafka.clientId,
    timeoutMs: registry.timeoutMs,
    ...(registry.username === undefined
      ? {}
      : { login: { username: registry.username, password: registry.password ?? "" } }),
  });
  try {
    const opened = await openRegistry({
      client,
      schemas: TOPICS.map((topic) => {
        const name = TOPIC_SCHEMAS[topic];
        return { subject: subjectOf(names[topic]), name, schema: schemas.current[name] };
      }),
      readProblem,
      clock: systemClock,
      register: registry.register,
    });
    const ids = opened.ids as Readonly<Record<SchemaName, number>>;
    const codec = createAvroCodec({ secrets, schemas, wire: { ids, schemas: opened.schemas } });
    return { codec, close: () => client.close() };
  } catch (error) {
    client.close();
    throw error;
  }
}
