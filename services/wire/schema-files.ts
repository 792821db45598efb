import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FatalError } from "../runtime/errors.ts";
import type { Topic } from "../runtime/topics.ts";

/** The schemas by their file names, `schemas/<name>.avsc`. */
export const SCHEMA_NAMES = [
  "proposed-call",
  "result",
  "verdict",
  "decision-event",
  "allowed-call",
  "refused-call",
  "held-call",
  "dead-letter",
  "alert",
] as const;

export type SchemaName = (typeof SCHEMA_NAMES)[number];

export type AvroField = {
  readonly name: string;
  readonly type: AvroSchema;
  readonly default?: unknown;
  readonly doc?: string;
};

/** A schema in the form of its file. */
export type AvroSchema =
  | string
  | readonly AvroSchema[]
  | {
      readonly type: AvroSchema;
      readonly name?: string;
      readonly namespace?: string;
      readonly doc?: string;
      readonly fields?: readonly AvroField[];
      readonly items?: AvroSchema;
      readonly logicalType?: string;
    };

/** The current schema of each name, and every released one, oldest release first. */
export type SchemaFiles = {
  readonly current: { readonly [name in SchemaName]: AvroSchema };
  readonly released: readonly ReleasedSchema[];
};

export type ReleasedSchema = {
  readonly version: string;
  readonly name: SchemaName;
  readonly schema: AvroSchema;
};

/**
 * Reads all schema files. To be called once, at start.
 *
 * @throws FatalError where the directory or a file is missing or is not JSON.
 */
export function readSchemaFiles(directory: string = schemaDirectory()): SchemaFiles {
  const current = Object.fromEntries(
    SCHEMA_NAMES.map((name) => [name, readSchema(join(directory, `${name}.avsc`))]),
  ) as Record<SchemaName, AvroSchema>;
  return { current, released: readReleased(join(directory, "released")) };
}

/** The directory `schemas/` of the package, found from the sources and from the build. */
function schemaDirectory(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const candidates = [join(here, "../../schemas"), join(here, "../../../schemas")];
  const directory = candidates.find((path) => existsSync(join(path, "decision-event.avsc")));
  if (directory !== undefined) return directory;
  throw new FatalError(
    "unexpected",
    `the Avro schemas are not at ${candidates.join(" or ")}: install the package again`,
  );
}

function readReleased(directory: string): readonly ReleasedSchema[] {
  if (!existsSync(directory)) return [];
  const versions = readdirSync(directory).sort(
    (a, b) => Number(a.replace(/^v/, "")) - Number(b.replace(/^v/, "")),
  );
  return versions.flatMap((version) =>
    SCHEMA_NAMES.map((name) => ({ version, name, path: join(directory, version, `${name}.avsc`) }))
      .filter(({ path }) => existsSync(path))
      .map(({ name, path }) => ({ version, name, schema: readSchema(path) })),
  );
}

function readSchema(path: string): AvroSchema {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as AvroSchema;
  } catch (cause) {
    throw new FatalError("unexpected", `cannot read the Avro schema ${path}: install it again`, {
      cause,
    });
  }
}

/** The schema of the values of each topic. */
export const TOPIC_SCHEMAS: { readonly [topic in Topic]: SchemaName } = {
  proposals: "proposed-call",
  results: "result",
  verdicts: "verdict",
  decisions: "decision-event",
  allowed: "allowed-call",
  refused: "refused-call",
  held: "held-call",
  deadLetters: "dead-letter",
  alerts: "alert",
};
