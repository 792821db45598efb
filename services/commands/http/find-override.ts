import { decodeFully } from "./decode.ts";

/**
 * A parameter that makes servers use another method than the request's: `_method`, `_method[]`,
 * `a[_method]`, `method`.
 */
const PARAMETER =
  /^[^a-z\d]*method[^a-z]*$|[^a-z\d][_.]method[^a-z]*$|http[-_ ]?method|method[-_ ]?override/;
/** The same as a name in a body, where `method` alone is an everyday word, as in JSON-RPC. */
const BODY_NAME = /^[^a-z\d]*[_.]method[^a-z]*$|[^a-z\d][_.]method[^a-z]*$/;
/** The same in a text of JSON, of a form or of several parts. */
const BODY_TEXT = /(?:^|[^\w.$-])[_.]method[\]["'\s]*(?:[=:]|$)|name=["']?[_.]method/;

export interface Searched {
  /** The part of the URL after `?`. */
  readonly query: string;
  readonly headers: unknown;
  readonly body: unknown;
  readonly rest: unknown;
}

/** The name of the parameter or header that asks the server for another method, or null. */
export function findOverride({ query, headers, body, rest }: Searched): string | null {
  const parameters = query.split(/[&;?]/).map((part) => part.split("=", 1)[0] ?? "");
  return (
    parameters.find((name) => PARAMETER.test(plain(name))) ??
    findText(headers, (text) => /method/.test(text)) ??
    findText(body, (text, isName) => (isName ? BODY_NAME : BODY_TEXT).test(text)) ??
    findText(rest, (text, isName) => (isName ? PARAMETER : BODY_TEXT).test(text)) ??
    null
  );
}

function plain(text: string): string {
  return decodeFully(text.replaceAll("+", " ")).toLowerCase();
}

/**
 * The first text in a value, at any depth, that matches: names of members (`isName`) and strings.
 */
function findText(
  value: unknown,
  fits: (text: string, isName: boolean) => boolean,
): string | undefined {
  const open = [value];
  for (let at = 0; at < open.length; at += 1) {
    const one = open[at];
    if (typeof one === "string" && fits(plain(one), false)) return one;
    if (typeof one !== "object" || one === null) continue;
    if (Array.isArray(one)) open.push(...(one as unknown[]));
    else {
      const name = Object.keys(one).find((key) => fits(plain(key), true));
      if (name !== undefined) return name;
      open.push(...Object.values(one));
    }
  }
  return undefined;
}
