// Runs tests against one change at a time, in a process that stays and is replaced when it does not
// come back.
import { fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ by: string | null, ran: number }} Answer `by`: the first test file that failed */

export const UNCHANGED = -1;

/** Lanes that run, so that nothing of them outlives an interrupted check. @type {Set<Lane>} */
const running = new Set();

export function stopLanes() {
  for (const lane of running) lane.stop();
}

export class Lane {
  /**
   * @param {string} copy the changed copy of the tree
   * @param {string} name
   * @param {string} [hits] file for what each test file comes by
   */
  constructor(copy, name, hits) {
    this.copy = copy;
    this.active = join(copy, `active-${name}`);
    this.env = {
      ...process.env,
      CALLGATE_MUTANT_FILE: this.active,
      ...(hits === undefined ? {} : { CALLGATE_MUTANT_HITS: hits }),
    };
  }

  /** @returns {Promise<import("node:child_process").ChildProcess>} */
  async start() {
    if (this.child !== undefined) return this.child;
    writeFileSync(this.active, String(UNCHANGED));
    const child = fork(join(this.copy, "test/mutants/worker.js"), {
      cwd: this.copy,
      env: this.env,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      detached: true,
    });
    this.child = child;
    running.add(this);
    await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error("the process that runs the tests did not start")));
    });
    return child;
  }

  /**
   * @param {number} id the change, or `UNCHANGED`
   * @param {readonly string[]} files run in this order until one fails
   * @param {number} limitMs
   * @returns {Promise<Answer | null>} null: it did not come back
   */
  async run(id, files, limitMs) {
    const child = await this.start();
    writeFileSync(this.active, String(id));
    return new Promise((resolve) => {
      /** @param {Answer | null} answer */
      const settle = (answer) => {
        clearTimeout(timer);
        child.removeAllListeners();
        if (answer === null) this.stop();
        resolve(answer);
      };
      const timer = setTimeout(() => settle(null), limitMs);
      child.once("message", (answer) => settle(/** @type {Answer} */ (answer)));
      child.once("exit", () => settle(null));
      child.send(files);
    });
  }

  stop() {
    const pid = this.child?.pid;
    this.child = undefined;
    running.delete(this);
    if (pid === undefined) return;
    try {
      // With the processes that it started: a group of its own.
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
