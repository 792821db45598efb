/** One step into a policy document: an object key or a list index. */
export type PathSegment = string | number;

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * Prints the path of a value in a policy document: `tool_schemas.charge_card.effects[0]`. Keys that
 * are not plain words are quoted, so that two values never share a path:
 * `tool_schemas["github/get.file"].read_only`. The empty path is the document itself.
 */
export function policyPath(segments: readonly PathSegment[]): string {
  let text = "";
  for (const segment of segments) {
    if (typeof segment === "number") text += `[${segment}]`;
    else if (!PLAIN_KEY.test(segment)) text += `[${JSON.stringify(segment)}]`;
    else text += text === "" ? segment : `.${segment}`;
  }
  return text;
}
