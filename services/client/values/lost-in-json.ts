/**
 * Detects values that JSON would write as `{}` or without what matters: an unawaited promise, a
 * map, an error, bytes, an object with private state. Returns its kind, or undefined if its own
 * members describe it. Expects the result of `toJSON`, if the value has one.
 */
export function kindLostInJson(value: object): string | undefined {
  if (Array.isArray(value)) return undefined;
  if (isThenable(value)) return "Promise";
  if (isPlain(value) || isBoxed(value)) return undefined;
  if (keepsItElsewhere(value) || Object.keys(value).length === 0) return kindOf(value);
  return undefined;
}

/** Works across realms: only the end of the prototype chain is inherited from. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Includes queries that run once they are awaited. */
function isThenable(value: object): boolean {
  return typeof Reflect.get(value, "then") === "function";
}

/** JSON unwraps the value. */
function isBoxed(value: object): boolean {
  return value instanceof Number || value instanceof String || value instanceof Boolean;
}

/** True even if somebody has added members. */
function keepsItElsewhere(value: object): boolean {
  return (
    value instanceof Map ||
    value instanceof Set ||
    value instanceof RegExp ||
    value instanceof Error
  );
}

function kindOf(value: object): string {
  if (value instanceof Error) return value.name;
  const maker: unknown = Reflect.get(value, "constructor");
  return typeof maker === "function" && maker.name !== "" ? maker.name : "object";
}
