// `npm run test:mutants [part of a path]`: switches off each check and turns each bound of the engine by
// one, one at a time, in a copy of the tree, and runs the tests of the core that come by it. A change
// that no test notices is a gap in the tests. Exit codes: 1 one survives, 3 something is missing.
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
import { Lane, stopLanes, UNCHANGED } from "../test/mutants/lane.js";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

/**
 * @typedef {import("../test/mutants/find-mutants.js").Mutant} Mutant
 * @typedef {Mutant & { id: number }} Numbered
 * @typedef {Omit<Mutant, "line"> & { times?: number, why: string }} Equivalent
 * @typedef {{ file: string, ms: number }} TestFile
 */

const CORE = "services/core";
const EQUIVALENT = "test/mutants/equivalent.json";
const TESTS = ["test/unit/core", "test/property/core", "test/conformance/core"];
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
const BASE_MS = 1_200_000;
const LEAST_WHY = 20;

class Missing extends Error {}

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`);

/** @param {string} root @param {string} path @returns {string[]} */
function filesUnder(root, path) {
  const full = join(root, path);
  if (statSync(full).isFile()) return [path];
  return readdirSync(full)
    .sort()
    .flatMap((name) => filesUnder(root, join(path, name)))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
}

/** @param {string} copy @returns {Promise<Mutant[]>} all changes, by id; the copy has them behind switches */
async function changeCopy(copy) {
  const { instrument } = await import("../test/mutants/find-mutants.js");
  for (const name of COPIED) {
    if (!existsSync(join(ROOT, name))) throw new Missing(`\`${name}\` is not there`);
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  /** @type {Mutant[]} */
  const mutants = [];
  for (const file of filesUnder(copy, CORE)) {
    const found = instrument(file, readFileSync(join(copy, file), "utf8"), mutants.length);
    writeFileSync(join(copy, file), found.text);
    mutants.push(...found.mutants);
  }
  return mutants;
}

/**
 * Which test files come by which change.
 * @param {string} copy
 * @param {number} count of changes
 * @returns {Promise<TestFile[][]>} by id
 */
async function findTests(copy, count) {
  const hitsFile = join(copy, "hits.jsonl");
  writeFileSync(hitsFile, "");
  const files = TESTS.flatMap((path) => filesUnder(copy, path)).filter((file) =>
    file.endsWith(".test.ts"),
  );
  const lane = new Lane(copy, "base", hitsFile);
  const answer = await lane.run(UNCHANGED, files, BASE_MS);
  lane.stop();
  if (answer === null) throw new Missing("the tests of the core do not end");
  if (answer.by !== null) throw new Missing(`${answer.by} fails by itself`);
  if (answer.ran !== files.length) {
    throw new Missing(`${answer.ran} of ${files.length} files of tests ran`);
  }
  /** @type {TestFile[][]} */
  const byId = Array.from({ length: count }, () => []);
  for (const line of readFileSync(hitsFile, "utf8").split("\n").filter(Boolean)) {
    const { file, ms, hits } = JSON.parse(line);
    for (const id of hits) byId[id]?.push({ file: relative(copy, file), ms });
  }
  return byId;
}

/** @param {Mutant[]} mutants @returns {Set<number>} ids of those that are known to change nothing */
function findEquivalent(mutants) {
  /** @type {Equivalent[]} */
  const known = JSON.parse(readFileSync(join(ROOT, EQUIVALENT), "utf8"));
  /** @type {Set<number>} */
  const ids = new Set();
  for (const { file, text, from, to, times = 1, why } of known) {
    const found = mutants.flatMap((mutant, id) =>
      mutant.file === file && mutant.text === text && mutant.from === from && mutant.to === to
        ? [id]
        : [],
    );
    if (found.length !== times || why.length < LEAST_WHY) {
      throw new Missing(
        `${EQUIVALENT} names \`${from}\` as \`${to}\` in ${file}, in \`${text}\`: ` +
          `that is there ${found.length} times, not ${times}; or why it changes nothing is not said`,
      );
    }
    for (const id of found) ids.add(id);
  }
  return ids;
}

/** Test files, likely ones first: by what they have killed of this file, then quick ones. */
class Order {
  constructor() {
    /** @type {Map<string, number>} */
    this.kills = new Map();
  }

  /** @param {Mutant} mutant @param {readonly TestFile[]} tests @returns {string[]} */
  of(mutant, tests) {
    const own = mutant.file.replace("services/", "test/unit/").replace(/\.ts$/, ".test.ts");
    /** @param {string} file */
    const kills = (file) => this.kills.get(`${mutant.file} ${file}`) ?? Number(file === own);
    return [...tests]
      .sort((a, b) => kills(b.file) - kills(a.file) || a.ms - b.ms)
      .map(({ file }) => file);
  }

  /** @param {Mutant} mutant @param {string} test */
  killed(mutant, test) {
    const key = `${mutant.file} ${test}`;
    this.kills.set(key, (this.kills.get(key) ?? 1) + 1);
  }
}

/** @param {Mutant} mutant */
function inWords({ file, line, from, to }) {
  return `${file}:${line} \`${from}\` as \`${to}\``;
}

/**
 * @param {Lane} lane
 * @param {Numbered} mutant
 * @param {readonly TestFile[]} tests those that come by it
 * @param {Order} order
 */
async function isKilled(lane, mutant, tests, order) {
  if (tests.length === 0) {
    print(`survived ${inWords(mutant)}: no test comes by`);
    return false;
  }
  const limitMs = 60_000 + 10 * tests.reduce((sum, { ms }) => sum + ms, 0);
  const answer = await lane.run(mutant.id, order.of(mutant, tests), limitMs);
  if (answer === null) {
    print(`never ended ${inWords(mutant)}`);
    return true;
  }
  if (answer.by !== null) order.killed(mutant, answer.by);
  else print(`survived ${inWords(mutant)}: ${mutant.text}`);
  return answer.by !== null;
}

/** @param {string} copy @param {string} only @returns {Promise<number>} exit code */
async function check(copy, only) {
  const mutants = await changeCopy(copy);
  const equivalent = findEquivalent(mutants);
  const waiting = mutants
    .map((mutant, id) => ({ ...mutant, id }))
    .filter(({ file, id }) => file.includes(only) && !equivalent.has(id));
  if (waiting.length === 0) throw new Missing(`there is nothing to change in \`${only}\``);
  const total = waiting.length;
  print(`${total} changes, besides ${equivalent.size} that are known to change nothing`);
  const tests = await findTests(copy, mutants.length);
  const order = new Order();
  let killed = 0;
  const lanes = Array.from({ length: LANES }, (_, index) => new Lane(copy, `lane-${index}`));
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if (await isKilled(lane, next, tests[next.id] ?? [], order)) killed += 1;
      }
      lane.stop();
    }),
  );
  print(`mutants: ${killed} of ${total} killed`);
  return killed === total ? 0 : 1;
}

ensureInstalled();
const copy = mkdtempSync(join(tmpdir(), "callgate-mutants-"));

function cleanUp() {
  stopLanes();
  rmSync(copy, { recursive: true, force: true });
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    cleanUp();
    process.exit(1);
  });
}

try {
  process.exitCode = await check(copy, process.argv[2] ?? "");
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`callgate: the mutation check cannot run: ${why}\n`);
  process.exitCode = 3;
} finally {
  cleanUp();
}
