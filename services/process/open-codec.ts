/**
 * Opens the codec of a process on a cluster, with the ids of a registry where one is configured.
 */

import type { Config } from "../adapters/config/config-schema.ts";
import type { TopicNames } from "../adapters/kafka/topics/topic-names.ts";
import { openRegistry } from "../adapters/registry/open-registry.ts";
import { createRegistryClient, type RegistryClient } from "../adapters/registry/registry-client.ts";
import { type SubjectSchema, subjectOf } from "../adapters/registry/subjects.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { INPUT_TOPICS, TOPICS, type Topic } from "../runtime/topics.ts";
import { type AvroCodec, createAvroCodec } from "../wire/codec.ts";
import { readSchemaFiles, type SchemaName, TOPIC_SCHEMAS } from "../wire/schema-files.ts";
import { readProblem } from "../wire/writer-schemas.ts";
import { readTlsFiles } from "./tls-files.ts";

export type OpenedCodec = { readonly codec: AvroCodec; close(): void };

/**
 * @param secrets secrets for idempotency keys, by key id; may be empty where none are made.
 * @throws RetryableError where the registry does not answer; FatalError where its schemas are
 *   incompatible.
 */
export async function openCodec(
  config: Config,
  names: TopicNames,
  secrets: ReadonlyMap<string, Uint8Array>,
): Promise<OpenedCodec> {
  const { registry } = config;
  if (registry === undefined) {
    return { codec: createAvroCodec({ secrets }), close: () => undefined };
  }
  const schemas = readSchemaFiles();
  const client = openRegistryClient(registry, config.kafka.clientId);
  try {
    const opened = await openRegistry({
      client,
      schemas: subjectSchemas(names, schemas.current),
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

/** A client of the registry's API, as configured. */
export function openRegistryClient(
  registry: NonNullable<Config["registry"]>,
  clientId: string,
): RegistryClient {
  return createRegistryClient({
    url: registry.url,
    clientId,
    timeoutMs: registry.timeoutMs,
    tls: readTlsFiles("registry.ssl", registry.ssl),
    ...(registry.username === undefined
      ? {}
      : { credentials: { username: registry.username, password: registry.password ?? "" } }),
  });
}

/** The schema of each topic, under its subject. */
export function subjectSchemas(
  names: TopicNames,
  schemas: Readonly<Record<SchemaName, unknown>>,
): readonly SubjectSchema[] {
  return TOPICS.map((topic) => {
    const name = TOPIC_SCHEMAS[topic];
    const isInput = (INPUT_TOPICS as readonly Topic[]).includes(topic);
    return { subject: subjectOf(names[topic]), name, schema: schemas[name], isInput };
  });
}
