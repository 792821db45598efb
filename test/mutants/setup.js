// Setup file of the tests in the changed copy of the tree: says which change is in force, or keeps
// which changes a test file comes by.
import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, expect } from "vitest";

const active = Number(readFileSync(process.env["CALLGATE_MUTANT_FILE"] ?? "", "utf8"));
const hitsFile = process.env["CALLGATE_MUTANT_HITS"];
/** @type {Set<number>} */
const hits = new Set();

/** @param {number} id */
function isActive(id) {
  hits.add(id);
  return id === active;
}

Object.assign(globalThis, { callgateMutant: isActive });

if (hitsFile !== undefined) {
  afterAll(() => {
    const file = expect.getState().testPath;
    appendFileSync(hitsFile, `${JSON.stringify({ file, hits: [...hits] })}\n`);
  });
}
