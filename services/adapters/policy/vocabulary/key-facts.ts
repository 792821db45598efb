/** What the vocabulary says of a key besides its values: for generated types, and for coverage. */
import { z } from "zod";

interface TypeName {
  /** The name of the type in `services/core/policy/document.ts`. */
  readonly name: string;
  /** The file of the core that has the type already; absent: it is written out. */
  readonly from?: string;
}

export const TYPE_NAMES = z.registry<TypeName>();

/** Gives the values of a schema a type with a name. */
export function nameType<T extends z.ZodType>(name: string, schema: T): T {
  TYPE_NAMES.add(schema, { name });
  return schema;
}

/** The same for a type that the core has. */
export function nameCoreType<T extends z.ZodType>(from: string, name: string, schema: T): T {
  TYPE_NAMES.add(schema, { name, from });
  return schema;
}

/** value: decisions name the key as their rule. items: they name each item of its list. */
export const RULE_KEYS = z.registry<{ readonly of: "value" | "items" }>();

/** A key whose value is a rule: `policy test` says whether any case reaches it. */
export function rule<T extends z.ZodType>(schema: T): T {
  RULE_KEYS.add(schema, { of: "value" });
  return schema;
}

/** A key whose value is a list of rules. */
export function rules<T extends z.ZodType>(schema: T): T {
  RULE_KEYS.add(schema, { of: "items" });
  return schema;
}
