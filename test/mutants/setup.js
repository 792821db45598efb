// Setup file of the tests in the changed copy of the tree: says which change is in force, or keeps
// which changes a test file comes by, and how long it takes.
import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, expect } from "vitest";

const active = Number(readFileSync(process.env["CALLGATE_MUTANT_FILE"] ?? "", "utf8"));
const hitsFile = process.env["CALLGATE_MUTANT_HITS"];
/** @type {Set<number>} */
const hits = new Set();
const started = performance.now();

/** @param {number} id */
function isActive(id) {
  return id === active;
}

/** @param {number} id */
function keep(id) {
  hits.add(id);
  return false;
}

Object.assign(globalThis, { callgateMutant: hitsFile === undefined ? isActive : keep });

if (hitsFile !== undefined) {
  afterAll(() => {
    const file = expect.getState().testPath;
    const ms = Math.ceil(performance.now() - started);
    appendFileSync(hitsFile, `${JSON.stringify({ file, ms, hits: [...hits] })}\n`);
  });
}
