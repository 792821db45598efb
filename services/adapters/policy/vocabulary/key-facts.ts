/** Metadata of the vocabulary's keys, for generated types and for coverage. */
import { z } from "zod";

interface TypeName {
  /** The name of the type in `services/core/policy/document.ts`. */
  readonly name: string;
  /** The core file that already declares the type; absent: the type is generated. */
  readonly from?: string;
}

export const TYPE_NAMES = z.registry<TypeName>();

/** Names the generated type of a schema's values. */
export function nameType<T extends z.ZodType>(name: string, schema: T): T {
  TYPE_NAMES.add(schema, { name });
  return schema;
}

/** Like `nameType`, for a type that the core already declares. */
export function nameCoreType<T extends z.ZodType>(from: string, name: string, schema: T): T {
  TYPE_NAMES.add(schema, { name, from });
  return schema;
}

/** `value`: decisions cite the key as their rule. `items`: they cite an item of its list. */
export const RULE_KEYS = z.registry<{ readonly of: "value" | "items" }>();

/** Marks a key whose value is a rule: `policy test` reports whether a case reaches it. */
export function rule<T extends z.ZodType>(schema: T): T {
  RULE_KEYS.add(schema, { of: "value" });
  return schema;
}

/** Marks a key whose value is a list of rules. */
export function rules<T extends z.ZodType>(schema: T): T {
  RULE_KEYS.add(schema, { of: "items" });
  return schema;
}
