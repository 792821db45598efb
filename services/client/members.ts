/** Members of an object that a program hands over. */

/** What is wrong with its members, for those who write without types; undefined: nothing. A misspelled one would be lost. */
export function memberProblem(given: unknown, known: readonly string[]): string | undefined {
  if (typeof given !== "object" || given === null) return "it must be an object";
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return `\`${unknown.slice(0, 40)}\` is not known; known are ${known.join(", ")}`;
}
