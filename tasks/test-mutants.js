// `npm run test:mutants [part of a path]`: switches off each check and turns each bound of the engine by
// one, one at a time, in a copy of the tree, and runs the tests of the core that come by it. A change
// that no test notices is a gap in the tests. Exit codes: 1 one survives, 3 something is missing.
import { fork } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { instrument } from "../test/mutants/find-mutants.js";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

/**
 * @typedef {import("../test/mutants/find-mutants.js").Mutant} Mutant
 * @typedef {{ file: string, text: string, what: string, why: string }} Equivalent
 * @typedef {{ id: number, failed: boolean, ran: number }} Answer
 */

const PLACES = ["checks", "decide", "policy", "state", "limits.ts"].map(
  (name) => `services/core/${name}`,
);
const COPIED = [
  "services",
  "test",
  "schemas",
  "infra",
  "tasks",
  "package.json",
  "tsconfig.json",
  ".dependency-cruiser.cjs",
];
const LANES = 2;
/** A change that makes a loop endless shows in that nothing comes back. */
const RUN_MS = 90_000;
const BASE_MS = 600_000;
const UNCHANGED = -1;

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`);

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  const full = join(ROOT, path);
  if (statSync(full).isFile()) return [path];
  return readdirSync(full)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)))
    .filter((file) => file.endsWith(".ts"));
}

/** @param {string} copy @returns {Mutant[]} all changes, by id; the copy has them behind switches */
function changeCopy(copy) {
  for (const name of COPIED) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  /** @type {Mutant[]} */
  const mutants = [];
  for (const file of PLACES.flatMap(filesUnder)) {
    const found = instrument(file, readFileSync(join(ROOT, file), "utf8"), mutants.length);
    writeFileSync(join(copy, file), found.text);
    mutants.push(...found.mutants);
  }
  return mutants;
}

/** One process that runs tests, and is replaced when it does not answer. */
class Lane {
  /** @param {string} copy @param {string} name @param {string} [hits] */
  constructor(copy, name, hits) {
    this.copy = copy;
    this.env = {
      ...process.env,
      CALLGATE_MUTANT_FILE: join(copy, `active-${name}`),
      ...(hits === undefined ? {} : { CALLGATE_MUTANT_HITS: hits }),
    };
  }

  /** @returns {Promise<import("node:child_process").ChildProcess>} */
  async start() {
    if (this.child !== undefined) return this.child;
    writeFileSync(this.env.CALLGATE_MUTANT_FILE, String(UNCHANGED));
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
      child.once("exit", () => reject(new Error("the tests could not be started")));
    });
    return child;
  }

  /**
   * @param {number} id
   * @param {string[]} files
   * @param {number} limitMs
   * @returns {Promise<Answer | null>} null: it did not come back
   */
  async run(id, files, limitMs) {
    const child = await this.start();
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
      child.send({ id, files });
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

/** @param {string} copy @returns {string[]} */
function testFiles(copy) {
  return ["test/unit/core", "test/property/core"]
    .filter((path) => existsSync(join(copy, path)))
    .flatMap(filesUnder)
    .filter((file) => file.endsWith(".test.ts"));
}

/**
 * Which test files come by which change, nearest first: those of its own name, then unit, then property.
 * @param {string} copy
 * @param {Mutant[]} mutants
 * @returns {Promise<string[][]>} by id
 */
async function findTests(copy, mutants) {
  const hitsFile = join(copy, "hits.jsonl");
  writeFileSync(hitsFile, "");
  const lane = new Lane(copy, "base", hitsFile);
  const files = testFiles(copy);
  const answer = await lane.run(UNCHANGED, files, BASE_MS);
  lane.stop();
  if (answer === null || answer.failed || answer.ran !== files.length) {
    throw new Missing(
      `the tests of the core do not pass by themselves (${answer?.ran ?? 0} of ${files.length} files)`,
    );
  }
  /** @type {string[][]} */
  const byId = mutants.map(() => []);
  for (const line of readFileSync(hitsFile, "utf8").split("\n").filter(Boolean)) {
    const { file, hits } = JSON.parse(line);
    for (const id of hits) byId[id]?.push(relative(copy, file));
  }
  return byId.map((tests, id) =>
    tests.sort((a, b) => distance(a, mutants[id]) - distance(b, mutants[id])),
  );
}

/** @param {string} test @param {Mutant | undefined} mutant */
function distance(test, mutant) {
  const own = mutant?.file.replace("services/", "test/unit/").replace(/\.ts$/, ".test.ts");
  if (test === own) return 0;
  return test.startsWith("test/unit/") ? 1 : 2;
}

class Missing extends Error {}

/** Lanes that run, so that nothing of them outlives an interrupted check. @type {Set<Lane>} */
const running = new Set();

/** @param {Mutant[]} mutants @returns {Set<number>} ids of those that are known to change nothing */
function findEquivalent(mutants) {
  /** @type {Equivalent[]} */
  const known = JSON.parse(readFileSync(join(ROOT, "test/mutants/equivalent.json"), "utf8"));
  /** @type {Set<number>} */
  const ids = new Set();
  for (const { file, text, what, why } of known) {
    const found = mutants.flatMap((mutant, id) =>
      mutant.file === file && mutant.text === text && mutant.what === what ? [id] : [],
    );
    if (found.length === 0 || why.length < 10) {
      throw new Missing(
        `test/mutants/equivalent.json names \`${what}\` in ${file}: \`${text}\`, which is not there`,
      );
    }
    for (const id of found) ids.add(id);
  }
  return ids;
}

/**
 * @param {Lane} lane
 * @param {number} id
 * @param {string[]} tests
 */
async function isKilled(lane, id, tests) {
  const groups = [0, 1, 2].map((wanted) => tests.filter((test) => kindOf(test, tests) === wanted));
  for (const group of groups) {
    if (group.length === 0) continue;
    const answer = await lane.run(id, group, RUN_MS);
    if (answer === null || answer.failed) return true;
  }
  return false;
}

/** The first alone, then the other unit tests, then the property tests. @param {string} test @param {string[]} tests */
function kindOf(test, tests) {
  if (test === tests[0]) return 0;
  return test.startsWith("test/unit/") ? 1 : 2;
}

/** @param {string} copy @param {string} only @returns {Promise<number>} exit code */
async function check(copy, only) {
  const mutants = changeCopy(copy);
  const equivalent = findEquivalent(mutants);
  const tests = await findTests(copy, mutants);
  const waiting = mutants
    .map((mutant, id) => ({ ...mutant, id }))
    .filter(({ file, id }) => file.includes(only) && !equivalent.has(id));
  if (waiting.length === 0) throw new Missing(`there is nothing to change in \`${only}\``);
  const total = waiting.length;
  print(`${total} changes, and ${equivalent.size} that are known to change nothing`);
  let killed = 0;
  const lanes = Array.from({ length: LANES }, (_, index) => new Lane(copy, `lane-${index}`));
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { id, file, line, what, text } = next;
        if (await isKilled(lane, id, tests[id] ?? [])) killed += 1;
        else print(`survived ${file}:${line} ${what}: ${text}`);
      }
      lane.stop();
    }),
  );
  print(`mutants: ${killed} of ${total} killed`);
  return killed === total ? 0 : 1;
}

ensureInstalled();
const copy = mkdtempSync(join(tmpdir(), "callgate-mutants-"));

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    for (const lane of running) lane.stop();
    rmSync(copy, { recursive: true, force: true });
    process.exit(1);
  });
}

try {
  process.exitCode = await check(copy, process.argv[2] ?? "");
} catch (error) {
  if (!(error instanceof Missing)) throw error;
  process.stderr.write(`callgate: the mutation check cannot run: ${error.message}\n`);
  process.exitCode = 3;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
