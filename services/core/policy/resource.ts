/** Resource templates: `order/{order_id}/payment`, filled from the normalized arguments. */
import type { JsonValue } from "../canonical/json-value.ts";
import { getArgument } from "./argument-path.ts";
import type { ResourceTemplate } from "./compiled.ts";
import { closed, isOfResult, isResultPath } from "./pending-resource.ts";
import { namesThing, segmentOf } from "./segment.ts";

export type TemplateResult =
  | {
      readonly ok: true;
      /** Where `byResult`, the template gives a pending resource: see `pending-resource.ts`. */
      readonly template: ResourceTemplate;
      readonly placeholders: string[];
      readonly byResult: boolean;
    }
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
    if (isOfResult(name) && !isResultPath(name)) {
      const problem = `\`{${name}}\` in \`${text}\` is no part of a result: write {result.id}`;
      return { ok: false, problem };
    }
    literals.push(text.slice(at, open));
    placeholders.push(name);
    at = close + 1;
  }
  const tail = text.slice(at);
  if (tail.includes("}")) return { ok: false, problem: `\`${text}\` has a } without its {` };
  const byResult = placeholders.some(isOfResult);
  const template = byResult
    ? pendingOf(literals, placeholders, tail)
    : templateOf(literals, placeholders, tail);
  return { ok: true, placeholders, byResult, template };
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
      if (!namesThing(value)) return null;
      out += literals[i] + segmentOf(value);
    }
    return out + tail;
  };
}

/** Fills the placeholders that name arguments; those that name the result stay open. */
function pendingOf(
  literals: readonly string[],
  placeholders: readonly string[],
  tail: string,
): ResourceTemplate {
  return ({ normalized }) => {
    let out = "";
    for (const [i, name] of placeholders.entries()) {
      out += closed(literals[i] as string);
      if (isOfResult(name)) {
        out += `{${name}}`;
        continue;
      }
      const value = getArgument(normalized, name);
      if (!namesThing(value)) return null;
      out += closed(segmentOf(value));
    }
    return out + closed(tail);
  };
}

/** `side_effect_resource: invoice`: the resource is named by the tool's canonical fields. */
export function shorthandResource(name: string): ResourceTemplate {
  return (identity) => {
    const values = identity.fields ?? [identity.text];
    return [name, ...values.map((value) => segmentOf(value as JsonValue))].join("/");
  };
}
