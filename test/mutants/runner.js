// Runs test files as vitest does, in one process with all modules loaded anew for each, and each
// with the change active that the job names beside it. A mutant that has failed a test is not run
// again.
import { appendFileSync, readFileSync } from "node:fs";
import { vi } from "vitest";
import { VitestTestRunner } from "vitest/runners";
import { UNCHANGED } from "./lane.js";

/** @typedef {import("./lane.js").Pair} Pair */

const { CALLGATE_MUTANT_JOB = "", CALLGATE_MUTANT_ANSWERS = "" } = process.env;

/** @type {readonly Pair[]} */
const job = JSON.parse(readFileSync(CALLGATE_MUTANT_JOB, "utf8"));
let at = -1;
let active = UNCHANGED;
/** @type {Set<number>} */
const killed = new Set();
/** @type {Set<number>} */
const hits = new Set();

/** @param {number} id */
function isActive(id) {
  hits.add(id);
  return id === active;
}

Object.assign(globalThis, { callgateMutant: isActive });

export default class MutantRunner extends VitestTestRunner {
  started = 0;
  failed = false;

  onBeforeCollect() {
    at += 1;
    active = job[at]?.[0] ?? UNCHANGED;
    hits.clear();
    this.started = performance.now();
    this.failed = false;
    vi.resetModules();
  }

  /** @override @type {VitestTestRunner["importFile"]} */
  importFile(path, source) {
    return killed.has(active) ? undefined : super.importFile(path, source);
  }

  /** @override @type {VitestTestRunner["onBeforeRunTask"]} */
  async onBeforeRunTask(test) {
    // One failure is enough.
    if (this.failed) test.mode = "skip";
    await super.onBeforeRunTask(test);
  }

  /** @override @type {VitestTestRunner["onAfterRunTask"]} */
  onAfterRunTask(test) {
    if (test.result?.state === "fail") this.failed = true;
    super.onAfterRunTask(test);
  }

  /** @override @param {readonly import("vitest").RunnerTestFile[]} files */
  onAfterRunFiles(files = []) {
    super.onAfterRunFiles();
    const failed = !killed.has(active) && files.some(({ result }) => result?.state === "fail");
    const ms = Math.ceil(performance.now() - this.started);
    // For the unchanged tree, the changes that the tests pass are reported too.
    const answer = { failed, ms, hits: active === UNCHANGED ? [...hits] : [] };
    appendFileSync(CALLGATE_MUTANT_ANSWERS, `${JSON.stringify(answer)}\n`);
    if (failed && active !== UNCHANGED) killed.add(active);
  }
}
