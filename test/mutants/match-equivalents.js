// Matches the entries of equivalent.json with changes. An entry names one change, or `times` equal ones, that
// no test can notice, and says why.

/**
 * @typedef {import("./find-mutants.js").Mutant} Mutant
 * @typedef {Omit<Mutant, "line"> & { times?: number, why: string }} Equivalent
 */

/** A shorter reason is none. */
const WHY_LENGTH_MIN = 20;

/**
 * @param {readonly Mutant[]} mutants
 * @param {readonly Equivalent[]} entries
 * @returns {{ ids: Set<number>, problems: string[] }} indexes of the matched changes, and a line for each
 *   entry that matches another number of changes or gives no reason
 */
export function matchEquivalents(mutants, entries) {
  /** @type {Set<number>} */
  const ids = new Set();
  /** @type {string[]} */
  const problems = [];
  for (const { file, text, from, to, times = 1, why } of entries) {
    const matches = mutants.flatMap((mutant, id) =>
      mutant.file === file && mutant.text === text && mutant.from === from && mutant.to === to
        ? [id]
        : [],
    );
    const change = `\`${from}\` as \`${to}\` in ${file}, line \`${text}\``;
    if (matches.length !== times) {
      problems.push(`${change}: there are ${matches.length} such changes, not ${times}`);
    }
    if (why.length < WHY_LENGTH_MIN) problems.push(`${change}: it does not say why`);
    for (const id of matches) ids.add(id);
  }
  return { ids, problems };
}
