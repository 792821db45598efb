/** What the parameters of a tool are, by name, type and format. */
import { isMap, type JsonMap } from "../tool-definition.ts";
import { singularOf, splitName } from "./split-name.ts";

/**
 * `id` names a thing that exists; `scope` says where (`owner`, `namespace`); `title` and `content` say
 * what is made; `note` explains; `option` is anything else.
 */
export type ParameterRole =
  | "key"
  | "id"
  | "scope"
  | "recipient"
  | "amount"
  | "currency"
  | "date"
  | "path"
  | "url"
  | "title"
  | "content"
  | "note"
  | "option";

export type Parameter = {
  readonly name: string;
  readonly words: readonly string[];
  readonly role: ParameterRole;
  readonly isRequired: boolean;
  readonly isList: boolean;
  /** Type of the value, or of the elements of a list. */
  readonly type: string | null;
  readonly format: string | null;
  readonly schema: JsonMap;
  /** What the id is of, singular: `order` for `order_id`; null for `id`, and for other roles. */
  readonly stem: string | null;
};

/** In the order of the schema. None where it is missing or not of an object. */
export function parametersOf(schema: unknown): readonly Parameter[] {
  const properties = isMap(schema) ? schema["properties"] : undefined;
  if (!isMap(schema) || !isMap(properties)) return [];
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(properties).map(([name, value]) =>
    parameterOf(name, isMap(value) ? value : {}, required.includes(name)),
  );
}

/** The members of the elements of a required list, as `files[].path`. */
export function membersOf(list: Parameter): readonly Parameter[] {
  if (!list.isList || !list.isRequired || !isMap(list.schema["items"])) return [];
  return parametersOf(list.schema["items"]).map((member) => ({
    ...member,
    name: `${list.name}[].${member.name}`,
  }));
}

function parameterOf(name: string, schema: JsonMap, isRequired: boolean): Parameter {
  const words = splitName(name);
  const own = typeOf(schema);
  const isList = own === "array";
  const items = isList && isMap(schema["items"]) ? schema["items"] : schema;
  const format = typeof items["format"] === "string" ? items["format"] : null;
  const type = typeOf(items);
  const role = roleOf({ words, type, format, schema: items });
  const stem = role === "id" ? stemOf(words) : null;
  return { name, words, role, isRequired, isList, type, format, schema, stem };
}

function typeOf(schema: JsonMap): string | null {
  const { type } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const own = types.find((one) => typeof one === "string" && one !== "null");
  return typeof own === "string" ? own : null;
}

const set = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const ID_WORDS = set("id ids uuid guid sku vin iban slug number reference ref handle arn sha ts");
const KEY_NAMES =
  /^(?:idempotency_?(?:key|token)|client_?(?:token|request_id|reference|ref)|dedup\w*_?(?:key|id|token)|request_token)$/;
const SAYS_KEY =
  /\bidempoten|\b(?:safe|on|for) retr(?:y|ies)|\bretr(?:y|ies) (?:of|with|safely)|\bdedup|\bdouble (?:charge|submission)|\bprevents? duplicate/i;
const SCOPES = set(
  "owner repo repository organization org workspace namespace project branch environment env region zone database db db_name schema collection bucket team tenant cluster context calendar account board table base service",
);
const RECIPIENTS = set(
  "to cc bcc recipient recipients email emails phone channel chat receiver attendees assignee user username member users members who target",
);
const TITLES = set("name title subject summary label key topic slot code tag role emoji reaction");
const CONTENTS = set(
  "body text message content contents description comment data value values fields properties payload markdown html command query caption post metadata",
);
const NOTES = set(
  "reason note notes comment comments memo remark remarks justification explanation",
);
const AMOUNTS = set("amount price total sum cost fee quantity qty value");
const DATES = set("date time start end from until at day deadline due checkin checkout when");

const ROLE_WORDS: readonly (readonly [ParameterRole, ReadonlySet<string>])[] = [
  ["currency", set("currency")],
  ["amount", AMOUNTS],
  ["url", set("url urls uri link href")],
  ["path", set("path paths file filename filepath folder directory dir")],
  ["recipient", RECIPIENTS],
  ["scope", SCOPES],
  ["note", NOTES],
  ["title", TITLES],
  ["content", CONTENTS],
  ["date", DATES],
];

type Said = Pick<Parameter, "words" | "type" | "format"> & { readonly schema: JsonMap };

function roleOf(said: Said): ParameterRole {
  const { words, type, format } = said;
  if (isKey(said)) return "key";
  if (type === "boolean") return "option";
  const last = words.at(-1) ?? "";
  if (ID_WORDS.has(last) || (last === "key" && words.length > 1)) return "id";
  return ROLE_FORMATS.get(format ?? "") ?? roleByName(words, type);
}

const ROLE_FORMATS: ReadonlyMap<string, ParameterRole> = new Map([
  ["email", "recipient"],
  ["uri", "url"],
  ["url", "url"],
  ["date", "date"],
  ["date-time", "date"],
]);

const KEY_LASTS = set("key token id reference ref nonce uuid");

/** By its name; or by a name that may be a key, and a description that speaks of retries. */
function isKey({ words, type, schema }: Said): boolean {
  if (KEY_NAMES.test(words.join("_"))) return true;
  const { description } = schema;
  const mayBe = type === "string" && KEY_LASTS.has(words.at(-1) ?? "");
  return mayBe && typeof description === "string" && SAYS_KEY.test(description);
}

function roleByName(words: readonly string[], type: string | null): ParameterRole {
  const [joined, last = ""] = [words.join("_"), words.at(-1)];
  const isNumber = type === "number" || type === "integer";
  const match = ROLE_WORDS.find(([role, names]) => {
    if (role === "amount" && last === "value" && !isNumber) return false;
    return names.has(joined) || names.has(last);
  });
  return match?.[0] ?? "option";
}

function stemOf(words: readonly string[]): string | null {
  const stem = words.slice(0, -1).map(singularOf);
  const last = words.at(-1) ?? "";
  if (stem.length > 0) return stem.join("_");
  return ["id", "ids", "uuid", "guid", "number", "reference", "ref", "key", "slug"].includes(last)
    ? null
    : last;
}
