/** Lists the rules of a policy: the written keys that the vocabulary marks as rules. */
import type { z } from "zod";
import type { PolicyDocument } from "../../core/policy/document.ts";
import type { PathSegment } from "../../core/policy/path.ts";
import { policyDocument } from "./vocabulary/blocks.ts";
import { RULE_KEYS } from "./vocabulary/key-facts.ts";
import { childrenOf, formsOf } from "./vocabulary-keys.ts";

export interface WrittenRule {
  readonly path: readonly PathSegment[];
  readonly value: unknown;
}

type Schema = z.core.$ZodType;

/** In the order of the vocabulary, without rules that are off. */
export function listRules(document: PolicyDocument): readonly WrittenRule[] {
  const rules: WrittenRule[] = [];
  visit(policyDocument, document, [], rules);
  return rules;
}

function visit(
  schema: Schema,
  value: unknown,
  path: readonly PathSegment[],
  rules: WrittenRule[],
): void {
  const marked = RULE_KEYS.get(schema as z.ZodType)?.of;
  if (marked === "value" && value !== "off" && value !== false) rules.push({ path, value });
  if (typeof value !== "object" || value === null) return;
  const children = new Map(formsOf(schema).flatMap(childrenOf));
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    if (marked === "items") rules.push({ path: at, value: inner });
    const child = children.get(key) ?? children.get("*");
    if (child !== undefined) visit(child, inner, at, rules);
  }
}
