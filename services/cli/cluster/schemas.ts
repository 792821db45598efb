/** `callgate schemas check` and `register`: compares our schemas with the registry's. */
import type { Config } from "../../adapters/config/config-schema.ts";
import {
  checkSubjects,
  registerSubjects,
  type SubjectReport,
} from "../../adapters/registry/subjects.ts";
import { EXIT_OK, type ExitCode, environmentError, usageError } from "../../process/exit-error.ts";
import { topicNamesOf } from "../../process/kafka-settings.ts";
import { openRegistryClient, subjectSchemas } from "../../process/open-codec.ts";
import { readSchemaFiles } from "../../wire/schema-files.ts";
import { readProblem } from "../../wire/writer-schemas.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted } from "../output/text.ts";

export type SchemaOptions = { readonly register: boolean; readonly json: boolean };

export async function runSchemas(
  config: Config,
  { register, json }: SchemaOptions,
  { out }: Terminal,
): Promise<ExitCode> {
  const reports = await askRegistry(config, register);
  const refused = reports.filter(({ problems }) => problems.length > 0);
  if (json) {
    await out.write(`${JSON.stringify({ ok: refused.length === 0, subjects: reports })}\n`);
  } else {
    const rows = reports.map(({ subject, state, id, level }) => [
      ...[subject, state, id ?? "", level ?? ""],
    ]);
    await out.write(textTable(["subject", "state", "id", "compatibility"], rows, out.style, [2]));
    for (const { subject, problems, notes } of reports) {
      for (const text of [...problems, ...notes]) await out.write(`${subject}: ${text}\n`);
    }
  }
  if (refused.length === 0) return EXIT_OK;
  throw environmentError(`${counted(refused.length, "schema")} cannot be used with this registry`);
}

/** @throws RetryableError `schema_unavailable` */
export async function askRegistry(
  config: Config,
  register: boolean,
): Promise<readonly SubjectReport[]> {
  const { registry, kafka } = config;
  if (registry === undefined) {
    throw usageError("no registry is configured; set registry.url (CALLGATE_REGISTRY_URL)");
  }
  const client = openRegistryClient(registry, kafka.clientId);
  try {
    const schemas = subjectSchemas(topicNamesOf(config), readSchemaFiles().current);
    const work = register ? registerSubjects : checkSubjects;
    return await work(client, schemas, readProblem);
  } finally {
    client.close();
  }
}
