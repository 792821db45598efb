/**
 * Results and verdicts as plain JSON, for writers without Avro. The members are the fields of the
 * Avro schema, and what is read is the value that its Avro record would have.
 */
import type { JsonObject, JsonValue } from "../core/canonical/json-value.ts";
import type { CanonicalLimits } from "../core/canonical/limits.ts";
import { parseCanonical } from "../core/canonical/parse-canonical.ts";
import { cutText } from "../core/cut-text.ts";
import { UndecodableError } from "./reader.ts";
import type { AvroField, AvroSchema } from "./schema-files.ts";

const SHOWN_CHARACTERS = 40;
const DEFAULT_TENANT = "default";
/** An output may be large; the log bounds the record itself. */
const LIMITS: CanonicalLimits = { maxBytes: 16 * 1024 * 1024, maxDepth: 32, maxKeys: 4096 };

/**
 * The value of a JSON text by a schema: absent members are null, and an absent tenant is `default`.
 *
 * @throws UndecodableError that names every wrong member.
 */
export function readJsonRecord(schema: AvroSchema, text: Uint8Array): object {
  const parsed = parseCanonical(text, LIMITS);
  if (!parsed.ok) throw new UndecodableError(`not strict JSON: ${parsed.message}`);
  const problems: string[] = [];
  const members = parsed.value as JsonObject;
  const record = readRecord(schema, members, "", problems);
  if (problems.length > 0) throw new UndecodableError(problems.join("; "));
  return record;
}

function readRecord(
  schema: AvroSchema,
  members: JsonObject,
  path: string,
  problems: string[],
): object {
  const fields = fieldsOf(schema) ?? [];
  for (const name of Object.keys(members)) {
    if (fields.some((field) => field.name === name)) continue;
    problems.push(`unknown field \`${cutText(path + name, SHOWN_CHARACTERS)}\``);
  }
  return Object.fromEntries(
    fields.map((field) => [field.name, readField(field, members[field.name], path, problems)]),
  );
}

function readField(
  { name, type }: AvroField,
  member: JsonValue | undefined,
  path: string,
  problems: string[],
): unknown {
  const at = `${path}${name}`;
  const options = Array.isArray(type) ? (type as readonly AvroSchema[]) : [type as AvroSchema];
  const option = options.find((each) => each !== "null") ?? "null";
  if (member === undefined || member === null) {
    if (at === "tenantId" && member === undefined) return DEFAULT_TENANT;
    if (!options.includes("null")) problems.push(`\`${at}\` must be given, as ${formOf(option)}`);
    return null;
  }
  const isRecord = fieldsOf(option) !== undefined && typeof member === "object";
  if (isRecord && !Array.isArray(member)) {
    return readRecord(option, member as JsonObject, `${at}.`, problems);
  }
  if (!hasForm(option, member)) problems.push(`\`${at}\` must be ${formOf(option)}`);
  return member;
}

function fieldsOf(schema: AvroSchema): readonly AvroField[] | undefined {
  return typeof schema === "object" && "fields" in schema ? schema.fields : undefined;
}

/** The name of a primitive type, also below a logical type; undefined: a record. */
function primitiveOf(schema: AvroSchema): string | undefined {
  if (typeof schema === "string") return schema;
  return "type" in schema && typeof schema.type === "string" && schema.type !== "record"
    ? schema.type
    : undefined;
}

const INT_MAX = 2 ** 31 - 1;
const LONG_MAX = 2 ** 52 - 1;

function hasForm(schema: AvroSchema, member: JsonValue): boolean {
  switch (primitiveOf(schema)) {
    case "string":
      return typeof member === "string";
    case "boolean":
      return typeof member === "boolean";
    case "int":
      return isWhole(member, INT_MAX);
    case "long":
      return isWhole(member, LONG_MAX);
    default:
      return false;
  }
}

function isWhole(member: JsonValue, most: number): boolean {
  return Number.isInteger(member) && Math.abs(member as number) <= most;
}

const FORMS: { readonly [primitive: string]: string } = {
  string: "text",
  boolean: "true or false",
  int: `a whole number of at most ${INT_MAX}`,
  long: `a whole number of at most ${LONG_MAX}`,
};

function formOf(schema: AvroSchema): string {
  const names = fieldsOf(schema)?.map(({ name }) => `\`${name}\``);
  return names === undefined
    ? (FORMS[primitiveOf(schema) ?? ""] ?? "null")
    : `an object of ${names.join(", ")}`;
}
