/** A policy with the value at the key, in which `name` takes the place of `*`. */
export function setIn(base: object, key: string, value: unknown, name = "t"): object {
  const copy = structuredClone(base) as Record<string, unknown>;
  const parts = key.split(".").map((part) => (part === "*" ? name : part));
  let at: Record<string, unknown> = copy;
  for (const [index, part] of parts.slice(0, -1).entries()) {
    const member = part === "[]" ? "0" : part;
    at[member] ??= parts[index + 1] === "[]" ? [] : {};
    at = at[member] as Record<string, unknown>;
  }
  const last = parts.at(-1) ?? "";
  if (value !== undefined) at[last] = value;
  return copy;
}
