/**
 * What JSON would write as `{}`, or without what matters of it: a promise that nobody awaited, a map, an error, bytes, an
 * object that keeps all it has out of sight. Its kind, or undefined where its own members say what it is. Of what its
 * `toJSON` gave, where it has one.
 */
export function kindLostInJson(value: object): string | undefined {
  if (Array.isArray(value)) return undefined;
  if (isThenable(value)) return "Promise";
  if (isPlain(value) || isBoxed(value)) return undefined;
  if (keepsItElsewhere(value) || Object.keys(value).length === 0) return kindOf(value);
  return undefined;
}

/** Of any realm: nothing but the end of the chain is inherited from. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Queries that run once they are awaited, too. */
function isThenable(value: object): boolean {
  return typeof Reflect.get(value, "then") === "function";
}

/** JSON takes the value out of it. */
function isBoxed(value: object): boolean {
  return value instanceof Number || value instanceof String || value instanceof Boolean;
}

/** Whatever members somebody has put beside it. */
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
