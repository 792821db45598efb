// `npm run test:mutants [parts of paths]`: switches off each check and changes each bound of the engine by
// one, one change at a time, in a copy of the tree, and runs the tests of the core that reach it. A change
// that no test notices is a gap in the tests. Exit codes: 1 a change survives, 3 something is missing.
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
import { join } from "node:path";
import { Lane, stopLanes, UNCHANGED } from "../test/mutants/lane.js";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

/**
 * @typedef {import("../test/mutants/find-mutants.js").Mutant} Mutant
 * @typedef {Mutant & { id: number }} Numbered
 * @typedef {{ file: string, ms: number }} TestFile
 */

const EQUIVALENT = "test/mutants/equivalent.json";
/**
 * Property tests draw the same cases each time here (test/mutants/fixed-seed.js): a change that they notice
 * today must not survive tomorrow. Slow ones are left out.
 */
const TESTS = [
  "test/unit/core",
  "test/unit/collections",
  "test/conformance/core/normalizers.test.ts",
  "test/unit/adapters/policy",
  "test/unit/cli/explain",
  "test/property/core/approvals.test.ts",
  "test/property/core/outcomes.test.ts",
  "test/property/core/outcome-orders.test.ts",
  "test/property/core/tool-names.test.ts",
];
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
/** How many changes one process meets, and how many test files each of them meets before the next. */
const TOGETHER = 12;
const MEETS = [3, 12, Infinity];
/** What does not come back for so long, or so many times what its tests take, never does. */
const LEAST_MS = 60_000;
const SLOWER = 20;
const BASE_MS = 600_000;

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
  const { instrument, MUTATED_FOLDERS } = await import("../test/mutants/find-mutants.js");
  for (const name of COPIED) {
    if (!existsSync(join(ROOT, name))) throw new Missing(`\`${name}\` is not there`);
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  /** @type {Mutant[]} */
  const mutants = [];
  for (const file of MUTATED_FOLDERS.flatMap((folder) => filesUnder(copy, folder))) {
    const instrumented = instrument(file, readFileSync(join(copy, file), "utf8"), mutants.length);
    writeFileSync(join(copy, file), instrumented.text);
    mutants.push(...instrumented.mutants);
  }
  return mutants;
}

/** @param {Mutant[]} mutants @returns {Promise<Set<number>>} ids of those that are known to change nothing */
async function findEquivalent(mutants) {
  const { matchEquivalents } = await import("../test/mutants/match-equivalents.js");
  const entries = JSON.parse(readFileSync(join(ROOT, EQUIVALENT), "utf8"));
  const { ids, problems } = matchEquivalents(mutants, entries);
  if (problems.length > 0) throw new Missing(`${EQUIVALENT}: ${problems.join("; ")}`);
  return ids;
}

/**
 * Which test files reach which change. They must pass without changes.
 * @param {string} copy
 * @param {readonly Lane[]} lanes
 * @param {number} count of changes
 * @returns {Promise<TestFile[][]>} by id
 */
async function findTests(copy, lanes, count) {
  const files = TESTS.flatMap((path) => filesUnder(copy, path)).filter((file) =>
    file.endsWith(".test.ts"),
  );
  /** @type {TestFile[][]} */
  const byId = Array.from({ length: count }, () => []);
  await Promise.all(
    lanes.map(async (lane, number) => {
      const own = files.filter((_, at) => at % lanes.length === number);
      const answers = await lane.run(
        own.map((file) => [UNCHANGED, file]),
        BASE_MS,
      );
      for (const [at, file] of own.entries()) {
        const { failed = true, ms = 0, hits = [] } = answers[at] ?? {};
        if (failed) throw new Missing(`${file} fails with nothing changed`);
        for (const id of hits) byId[id]?.push({ file, ms });
      }
    }),
  );
  return byId;
}

/** Test files, likely ones first: by what they have killed of this file, then quick ones. */
class Order {
  constructor() {
    /** @type {Map<string, number>} */
    this.kills = new Map();
  }

  /** @param {Mutant} mutant @param {readonly TestFile[]} tests @returns {TestFile[]} */
  of(mutant, tests) {
    const own = mutant.file.replace("services/", "test/unit/").replace(/\.ts$/, ".test.ts");
    /** @param {string} file */
    const kills = (file) => this.kills.get(`${mutant.file} ${file}`) ?? Number(file === own);
    return [...tests].sort((a, b) => kills(b.file) - kills(a.file) || a.ms - b.ms);
  }

  /** @param {Mutant} mutant @param {string} test */
  killed(mutant, test) {
    const key = `${mutant.file} ${test}`;
    this.kills.set(key, (this.kills.get(key) ?? 1) + 1);
  }
}

/** @param {string} file @param {readonly string[]} parts */
function isAmong(file, parts) {
  return parts.length === 0 || parts.some((part) => file.includes(part));
}

/** @param {Mutant} mutant */
function inWords({ file, line, from, to }) {
  return `${file}:${line} \`${from}\` as \`${to}\``;
}

/**
 * Runs some changes, each with some tests, and takes those that a test notices out of `alive`.
 * @param {Lane} lane
 * @param {readonly { mutant: Numbered, tests: readonly TestFile[] }[]} chunk
 * @param {Set<Numbered>} alive
 * @param {Order} order
 */
async function runTests(lane, chunk, alive, order) {
  const all = chunk.flatMap(({ mutant, tests }) => tests.map((test) => ({ mutant, ...test })));
  const limitMs = LEAST_MS + SLOWER * Math.max(0, ...all.map(({ ms }) => ms));
  for (let rest = all; rest[0] !== undefined; ) {
    // With nothing changed at first, so that no defect of the lane passes for a change noticed.
    /** @type {import("../test/mutants/lane.js").Pair[]} */
    const job = rest.map(({ mutant, file }) => [mutant.id, file]);
    const [first, ...answers] = await lane.run([[UNCHANGED, rest[0].file], ...job], limitMs);
    if (first?.failed !== false) throw new Missing(`${rest[0].file} fails with nothing changed`);
    for (const [at, { failed }] of answers.entries()) {
      const pair = rest[at];
      if (!failed || pair === undefined) continue;
      alive.delete(pair.mutant);
      order.killed(pair.mutant, pair.file);
    }
    const stuck = rest[answers.length];
    if (stuck === undefined) return;
    print(`not come back from ${inWords(stuck.mutant)} (${stuck.file})`);
    alive.delete(stuck.mutant);
    rest = rest.slice(answers.length).filter(({ mutant }) => alive.has(mutant));
  }
}

/**
 * @param {Lane} lane
 * @param {readonly Numbered[]} chunk
 * @param {readonly TestFile[][]} tests by id
 * @param {Order} order
 * @returns {Promise<number>} how many are killed
 */
async function killChunk(lane, chunk, tests, order) {
  const alive = new Set(chunk);
  const left = new Map(chunk.map((mutant) => [mutant, [...(tests[mutant.id] ?? [])]]));
  for (const most of MEETS) {
    const next = [...alive].map((mutant) => {
      const all = order.of(mutant, left.get(mutant) ?? []);
      left.set(mutant, all.slice(most));
      return { mutant, tests: all.slice(0, most) };
    });
    await runTests(lane, next, alive, order);
  }
  for (const mutant of alive) print(`survived ${inWords(mutant)}: ${mutant.text}`);
  return chunk.length - alive.size;
}

/**
 * @param {string} copy
 * @param {readonly string[]} parts of paths, of which a changed file's has one; none: all files
 * @returns {Promise<number>} exit code
 */
async function check(copy, parts) {
  const mutants = await changeCopy(copy);
  const equivalent = await findEquivalent(mutants);
  const wanted = mutants
    .map((mutant, id) => ({ ...mutant, id }))
    .filter(({ file, id }) => isAmong(file, parts) && !equivalent.has(id));
  if (wanted.length === 0)
    throw new Missing(`there is nothing to change in \`${parts.join(" ")}\``);
  print(`${wanted.length} changes, besides ${equivalent.size} that are known to change nothing`);
  const lanes = Array.from({ length: LANES }, (_, number) => new Lane(copy, number));
  const tests = await findTests(copy, lanes, mutants.length);
  const order = new Order();
  const waiting = [...wanted];
  let killed = 0;
  await Promise.all(
    lanes.map(async (lane) => {
      while (waiting.length > 0) {
        const more = await killChunk(lane, waiting.splice(0, TOGETHER), tests, order);
        killed += more;
      }
    }),
  );
  print(`mutants: ${killed} of ${wanted.length} killed`);
  return killed === wanted.length ? 0 : 1;
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
  process.exitCode = await check(copy, process.argv.slice(2));
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`callgate: the mutation check cannot run: ${why}\n`);
  process.exitCode = 3;
} finally {
  cleanUp();
}
