/**
 * Fills a schema's `default` values into a value, for the identity of a call: a call without an
 * argument is the same as one with the default spelled out. Defaults apply where the schema
 * certainly does: in `properties`, in `items` and `prefixItems`, through local `$ref`s and `allOf`.
 * Inside `anyOf`, `oneOf` and `if` the matching branch is not known, so nothing is filled.
 */
import { followPointer } from "./measure-schema.ts";

type Schema = Readonly<Record<string, unknown>>;

type Plan = {
  readonly properties: readonly (readonly [name: string, plan: PropertyPlan])[];
  readonly prefixItems: readonly (Plan | null)[];
  readonly items: Plan | null;
  readonly also: readonly Plan[];
};

type PropertyPlan = {
  readonly fills: boolean;
  readonly value: unknown;
  readonly inside: Plan | null;
};

/** Deepest level at which defaults are filled; recursive schemas end here. */
const PLAN_DEPTH_MAX = 8;
/** Most values in a default whose own defaults are filled in; a larger one stays as written. */
const DEFAULT_VALUES_MAX = 1_000;

/** Returns a function that fills defaults, and returns its argument where it fills none. */
export function compileDefaults(schema: Schema): (value: unknown) => unknown {
  const planner: Planner = { root: schema, plans: new Map() };
  const plan = planOf(schema, planner, 0);
  if (plan === null) return (value) => value;
  return (value) => fill(plan, value);
}

/** A schema that recurs at one depth shares its plan, so that self-references cost no more time. */
type Planner = {
  readonly root: Schema;
  readonly plans: Map<Schema, Map<number, Plan | null>>;
};

function planOf(schema: unknown, planner: Planner, depth: number): Plan | null {
  if (!isObject(schema) || depth > PLAN_DEPTH_MAX) return null;
  const byDepth = planner.plans.get(schema) ?? new Map<number, Plan | null>();
  planner.plans.set(schema, byDepth);
  const sharedPlan = byDepth.get(depth);
  if (sharedPlan !== undefined) return sharedPlan;
  const plan = makePlan(schema, planner, depth);
  byDepth.set(depth, plan);
  return plan;
}

function makePlan(schema: Schema, planner: Planner, depth: number): Plan | null {
  const properties = propertyPlans(schema["properties"], planner, depth);
  const prefixItems = listOf(schema["prefixItems"]).map((i) => planOf(i, planner, depth + 1));
  const items = planOf(schema["items"], planner, depth + 1);
  const also = [resolveLocal(schema["$ref"], planner.root), ...listOf(schema["allOf"])]
    .map((part) => planOf(part, planner, depth + 1))
    .filter((part) => part !== null);
  const idle =
    properties.length + also.length === 0 && items === null && prefixItems.every((p) => p === null);
  return idle ? null : { properties, prefixItems, items, also };
}

function propertyPlans(properties: unknown, planner: Planner, depth: number): Plan["properties"] {
  if (!isObject(properties)) return [];
  const plans: (readonly [string, PropertyPlan])[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const inside = planOf(schema, planner, depth + 1);
    const fills = isObject(schema) && Object.hasOwn(schema, "default");
    if (!fills && inside === null) continue;
    const value = fills ? completeDefault(schema["default"], inside) : undefined;
    plans.push([name, { fills, value, inside }]);
  }
  return plans;
}

/** Fills a default once like any other value, unless self-references would make it too large. */
function completeDefault(value: unknown, inside: Plan | null): unknown {
  if (inside === null) return value;
  const filled = fill(inside, value);
  return countValues(filled, DEFAULT_VALUES_MAX) > DEFAULT_VALUES_MAX ? value : filled;
}

function countValues(value: unknown, budget: number): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const child of Object.values(value)) {
    count += countValues(child, budget - count);
    if (count > budget) return count;
  }
  return count;
}

/** Follows `#` and `#/…` only; a reference by anchor or id fills nothing. */
function resolveLocal(reference: unknown, root: Schema): unknown {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  return followPointer(reference, root);
}

function fill(plan: Plan, value: unknown): unknown {
  let filled = Array.isArray(value) ? fillItems(plan, value) : value;
  if (isObject(filled)) filled = fillProperties(plan, filled);
  for (const part of plan.also) filled = fill(part, filled);
  return filled;
}

function fillProperties(plan: Plan, value: Schema): Schema {
  let copy: Record<string, unknown> | null = null;
  for (const [name, property] of plan.properties) {
    const present = Object.hasOwn(value, name);
    if (!present && !property.fills) continue;
    const after = present ? fillInside(property, value[name]) : property.value;
    if (present && after === value[name]) continue;
    copy ??= { ...value };
    copy[name] = after;
  }
  return copy ?? value;
}

function fillInside(property: PropertyPlan, value: unknown): unknown {
  return property.inside === null ? value : fill(property.inside, value);
}

function fillItems(plan: Plan, value: readonly unknown[]): readonly unknown[] {
  let changed = false;
  const filled = value.map((item, index) => {
    const itemPlan = index < plan.prefixItems.length ? plan.prefixItems[index] : plan.items;
    const after = itemPlan === null || itemPlan === undefined ? item : fill(itemPlan, item);
    if (after !== item) changed = true;
    return after;
  });
  return changed ? filled : value;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
