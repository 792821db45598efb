/** Resource templates: `order/{order_id}/payment`, filled from the normalized arguments. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonValue } from "../canonical/json-value.ts";
import { getArgument } from "./argument-path.ts";
import type { ResourceTemplate } from "./compiled.ts";

export type TemplateResult =
  | { readonly ok: true; readonly template: ResourceTemplate; readonly placeholders: string[] }
  | { readonly ok: false; readonly problem: string };

export function compileResource(text: string): TemplateResult {
  const literals: string[] = [];
  const placeholders: string[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{", at);
    if (open < 0) break;
    const close = text.indexOf("}", open);
    if (close < 0) return { ok: false, problem: `\`${text}\` has a { without its }` };
    const name = text.slice(open + 1, close).trim();
    if (name === "" || name.includes("{")) {
      return { ok: false, problem: `\`${text}\` has a placeholder without a name` };
    }
    literals.push(text.slice(at, open));
    placeholders.push(name);
    at = close + 1;
  }
  const tail = text.slice(at);
  if (tail.includes("}")) return { ok: false, problem: `\`${text}\` has a } without its {` };
  return { ok: true, placeholders, template: templateOf(literals, placeholders, tail) };
}

function templateOf(
  literals: readonly string[],
  placeholders: readonly string[],
  tail: string,
): ResourceTemplate {
  return ({ normalized }) => {
    let out = "";
    for (let i = 0; i < placeholders.length; i++) {
      const value = getArgument(normalized, placeholders[i] as string);
      if (value === undefined || value === null) return null;
      out += literals[i] + segmentOf(value);
    }
    return out + tail;
  };
}

/** `side_effect_resource: invoice`: the resource is named by the tool's canonical fields. */
export function shorthandResource(name: string): ResourceTemplate {
  return (identity) => {
    const values = identity.fields ?? [identity.text];
    return [name, ...values.map((value) => segmentOf(value as JsonValue))].join("/");
  };
}

/** One path segment of a value; different values give different segments. */
export function segmentOf(value: JsonValue): string {
  const text = typeof value === "string" ? value : canonicalText(value);
  return /[%/]/.test(text) ? text.replaceAll("%", "%25").replaceAll("/", "%2F") : text;
}
