/** A member in a JSON path from `$`, as problems name it: `$.items[0]`, `$["a b"]`. */
export function jsonMember(path: string, name: string): string {
  if (/^(0|[1-9][0-9]*)$/.test(name)) return `${path}[${name}]`;
  if (/^[A-Za-z_$][A-Za-z0-9_$-]*$/.test(name)) return `${path}.${name}`;
  return `${path}[${JSON.stringify(name)}]`;
}
