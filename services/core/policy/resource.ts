/** Resource templates: `order/{order_id}/payment`, filled from the normalized arguments. */
import type { JsonValue } from "../canonical/json-value.ts";
import { getArgument } from "./argument-path.ts";
import type { ResourceTemplate } from "./compiled.ts";
import {
  findBracketProblem,
  isListPath,
  type ListPath,
  namesOfElements,
  readListPath,
  valueAt,
} from "./list-path.ts";
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
  const parsed = parseTemplate(text);
  if (typeof parsed === "string") return { ok: false, problem: parsed };
  const { literals, placeholders, tail } = parsed;
  const ofArguments = placeholders.filter((name) => !isOfResult(name));
  for (const names of [ofArguments, placeholders.filter(isOfResult)]) {
    if (commonLists(names) === null) return { ok: false, problem: twoLists(text) };
  }
  const byResult = placeholders.some(isOfResult);
  if (ofArguments.some(isListPath)) {
    const template = eachOf(literals, placeholders, tail, byResult);
    return { ok: true, placeholders, byResult, template };
  }
  const template = byResult
    ? pendingOf(literals, placeholders, tail)
    : templateOf(literals, placeholders, tail);
  return { ok: true, placeholders, byResult, template };
}

interface ParsedTemplate {
  /** The text before each placeholder. */
  readonly literals: readonly string[];
  readonly placeholders: string[];
  readonly tail: string;
}

/** Returns what is wrong with the text where it is no template. */
function parseTemplate(text: string): ParsedTemplate | string {
  const literals: string[] = [];
  const placeholders: string[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{", at);
    if (open < 0) break;
    const close = text.indexOf("}", open);
    if (close < 0) return `\`${text}\` has a { without its }`;
    const name = text.slice(open + 1, close).trim();
    const problem = findPlaceholderProblem(name, text);
    if (problem !== null) return problem;
    literals.push(text.slice(at, open));
    placeholders.push(name);
    at = close + 1;
  }
  const tail = text.slice(at);
  if (tail.includes("}")) return `\`${text}\` has a } without its {`;
  return { literals, placeholders, tail };
}

function findPlaceholderProblem(name: string, text: string): string | null {
  if (name === "" || name.includes("{")) return `\`${text}\` has a placeholder without a name`;
  if (isOfResult(name) && !isResultPath(name)) {
    return `\`{${name}}\` in \`${text}\` is no part of a result: write {result.id}`;
  }
  return findBracketProblem(name);
}

function twoLists(text: string): string {
  return `\`${text}\` goes through two lists that have nothing in common: write an effect for each`;
}

/** The longest way through lists, which contains those of all others; null: two of them part. */
function commonLists(placeholders: readonly string[]): readonly string[] | null {
  const ways = placeholders.map((name) => readListPath(name).lists);
  const longest = ways.reduce<readonly string[]>(
    (long, way) => (way.length > long.length ? way : long),
    [],
  );
  const isWithin = ways.every((way) => way.every((list, at) => list === longest[at]));
  return isWithin ? longest : null;
}

/** A resource for each element; null where one has no name, or the list is empty or too long. */
function eachOf(
  literals: readonly string[],
  placeholders: readonly string[],
  tail: string,
  byResult: boolean,
): ResourceTemplate {
  const parts = placeholders.map((name): ListPath | string =>
    isOfResult(name) ? `{${name}}` : readListPath(name),
  );
  const lists = commonLists(placeholders.filter((name) => !isOfResult(name))) ?? [];
  const closedIf = byResult ? closed : (text: string) => text;
  const nameElement = (scopes: readonly JsonValue[]): string | null => {
    let out = "";
    for (const [at, part] of parts.entries()) {
      out += closedIf(literals[at] as string);
      if (typeof part === "string") {
        out += part;
        continue;
      }
      const value = valueAt(scopes[part.lists.length] as JsonValue, part.rest);
      if (!namesThing(value)) return null;
      out += closedIf(segmentOf(value));
    }
    return out + closedIf(tail);
  };
  return ({ normalized }) => namesOfElements(normalized, lists, nameElement);
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
