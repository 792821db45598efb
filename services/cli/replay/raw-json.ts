/**
 * The original text of parts of a JSON text that `JSON.parse` has accepted, without what parsing
 * changes (digits beyond a double, duplicate keys). Does not validate.
 */

const SPACE = /[ \t\n\r]/;
const END_OF_SCALAR = /[,\]} \t\n\r]/;

/**
 * The members of an object by key, each as its text; of a duplicate key the last, as in JSON.parse.
 */
export function rawMembers(object: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(object, skipSpace(object, 0) + 1);
  while (object[at] === '"') {
    const keyEnd = endOfString(object, at);
    const key = JSON.parse(object.slice(at, keyEnd)) as string;
    // After the colon.
    const start = skipSpace(object, skipSpace(object, keyEnd) + 1);
    const end = endOfValue(object, start);
    members.set(key, object.slice(start, end));
    at = skipSpace(object, skipSpace(object, end) + 1);
  }
  return members;
}

/** The items of an array, each as its text. */
export function rawItems(array: string): readonly string[] {
  const items: string[] = [];
  let at = skipSpace(array, skipSpace(array, 0) + 1);
  while (at < array.length && array[at] !== "]") {
    const end = endOfValue(array, at);
    items.push(array.slice(at, end));
    at = skipSpace(array, skipSpace(array, end) + 1);
  }
  return items;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === "{" || first === "[") return endOfContainer(text, start);
  let at = start;
  while (at < text.length && !END_OF_SCALAR.test(text[at] as string)) at += 1;
  return at;
}

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '"') at = endOfString(text, at) - 1;
    else if (unit === "{" || unit === "[") depth += 1;
    else if (unit === "}" || unit === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && SPACE.test(text[at] as string)) at += 1;
  return at;
}
