// Runs tests with changes active, in a process that stays alive and is replaced when it does not
// answer.
import { fork } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * @typedef {readonly [id: number, file: string]} Pair a change, or `UNCHANGED`, and a test file
 * @typedef {{ failed: boolean, ms: number, hits: number[] }} Answer `hits`: the changes that the tests
 *   reach, in the unchanged tree
 */

export const UNCHANGED = -1;

const LOOK_MS = 250;

/** Lanes that run, so that none outlives an interrupted check. @type {Set<Lane>} */
const running = new Set();

export function stopLanes() {
  for (const lane of running) lane.stop();
}

export class Lane {
  /** @param {string} copy the changed copy of the tree @param {number} number */
  constructor(copy, number) {
    this.copy = copy;
    this.job = join(copy, `job-${number}.json`);
    this.answers = join(copy, `answers-${number}.jsonl`);
  }

  /** @returns {Promise<import("node:child_process").ChildProcess>} */
  async start() {
    if (this.child !== undefined) return this.child;
    const child = fork(join(this.copy, "test/mutants/worker.js"), {
      cwd: this.copy,
      env: {
        ...process.env,
        CALLGATE_MUTANT_JOB: this.job,
        CALLGATE_MUTANT_ANSWERS: this.answers,
      },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      detached: true,
    });
    this.child = child;
    running.add(this);
    await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error("the process that runs the tests did not start")));
    });
    child.removeAllListeners();
    return child;
  }

  /**
   * @param {readonly Pair[]} job
   * @param {number} limitMs how long one pair may take
   * @returns {Promise<Answer[]>} in the order of the job; fewer where the next did not come back
   */
  async run(job, limitMs) {
    writeFileSync(this.job, JSON.stringify(job));
    writeFileSync(this.answers, "");
    const child = await this.start();
    await new Promise((resolve) => {
      let size = 0;
      let at = performance.now();
      const timer = setInterval(() => {
        const now = statSync(this.answers).size;
        if (now !== size) at = performance.now();
        size = now;
        if (performance.now() - at > limitMs) settle();
      }, LOOK_MS);
      const settle = () => {
        clearInterval(timer);
        child.removeAllListeners();
        resolve(undefined);
      };
      this.settle = settle;
      child.once("message", settle);
      child.once("exit", settle);
      child.send("run");
    });
    const lines = readFileSync(this.answers, "utf8").split("\n").filter(Boolean);
    if (lines.length < job.length) this.stop();
    return lines.map((line) => JSON.parse(line));
  }

  stop() {
    const pid = this.child?.pid;
    this.child = undefined;
    running.delete(this);
    this.settle?.();
    if (pid === undefined) return;
    try {
      // Also kills the processes that it started: it leads a group of its own.
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
