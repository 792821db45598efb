/**
 * One form for the spellings of a value that mean the same to nearly every tool: white space at the ends of a text,
 * invisible characters, the Unicode forms, the order of a URL's query, and JSON as text. White space inside a text stays.
 */
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import { DEFAULT_CANONICAL_LIMITS } from "../canonical/limits.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import type { ValueCapabilities } from "../capabilities.ts";

/** Whether the text at an argument's path stays a text although it is JSON; elements of a list have `[]`. */
export type StaysText = (path: string) => boolean;

/**
 * Whether some value of a canonical text may have another form: beyond printable ASCII, white space at an end, JSON as
 * text, or a URL. False is certain, true is not.
 */
export function mayBeRespelled(canonical: string): boolean {
  return RESPELLED.test(canonical);
}

const RESPELLED = /[^ -~]|"(?: |\\[nrtfbu]|[[{]|https?:)|(?: |\\[nrtf]|\\u00[01][0-9a-f])"/i;

const ASCII = /^[\0-\x7f]*$/;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const URL_TEXT = /^https?:\/\/\S+$/i;
const JSON_TEXT = /^\s*[[{]/;

/** Returns the value itself where it has this form already. Names of members stay as they are. */
export function unifySpelling(
  value: JsonValue,
  capabilities: Pick<ValueCapabilities, "url">,
  staysText: StaysText,
  path = "",
): JsonValue {
  if (typeof value === "string") {
    const read = JSON_TEXT.test(value) && !staysText(path) ? readJson(value) : undefined;
    if (read === undefined) return unifyText(value, capabilities);
    return unifySpelling(read, capabilities, staysText, path);
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const elements = value as readonly JsonValue[];
    const unified = elements.map((one) => unifySpelling(one, capabilities, staysText, `${path}[]`));
    return unified.every((one, at) => one === elements[at]) ? value : unified;
  }
  return unifyMembers(value as JsonObject, capabilities, staysText, path);
}

function unifyMembers(
  value: JsonObject,
  capabilities: Pick<ValueCapabilities, "url">,
  staysText: StaysText,
  path: string,
): JsonObject {
  let isSame = true;
  const entries = Object.entries(value).map(([key, before]) => {
    const inner = path === "" ? key : `${path}.${key}`;
    const after = unifySpelling(before, capabilities, staysText, inner);
    if (after !== before) isSame = false;
    return [key, after] as const;
  });
  return isSame ? value : Object.fromEntries(entries);
}

function readJson(text: string): JsonValue | undefined {
  const parsed = parseCanonical(text.trim(), DEFAULT_CANONICAL_LIMITS);
  return parsed.ok ? parsed.value : undefined;
}

function unifyText(text: string, capabilities: Pick<ValueCapabilities, "url">): string {
  const visible = ASCII.test(text) ? text : text.replace(INVISIBLE, "").normalize("NFKC");
  const trimmed = visible.trim();
  return URL_TEXT.test(trimmed) ? orderQuery(capabilities.url(trimmed) ?? trimmed) : trimmed;
}

/** Parameters by name; those of one name keep their order, which may mean something. */
function orderQuery(url: string): string {
  const [, before = url, query, fragment = ""] = /^([^?#]*)\?([^#]*)(#.*)?$/s.exec(url) ?? [];
  if (query === undefined || !query.includes("&")) return url;
  const parameters = query.split("&").map((parameter) => ({
    name: parameter.split("=", 1)[0] ?? "",
    parameter,
  }));
  parameters.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  return `${before}?${parameters.map(({ parameter }) => parameter).join("&")}${fragment}`;
}
