// `npm run test:faults`: real brokers, real processes, real deaths. Prints a row for each fault and ends
// with the verdict. Exit codes: 1 a row failed or proved nothing, 3 a part is missing.
//   --short       the rows and numbers of every change
//   --row TEXT    only rows whose name contains the text; may be given again
//   --kafka V     a version of infra/versions.json
//   --transaction-version 0|2
import { parseArgs } from "node:util";
import { MissingError } from "../../infra/local/missing.js";
import { startKafka } from "../../infra/local/start-kafka.js";
import { connectKafka } from "../support/kafka/test-cluster.ts";
import { buildOnce } from "./lab/build.ts";
import { type Cluster, Lab } from "./lab/lab.ts";
import type { Row, Run } from "./lab/row.ts";
import { ROWS } from "./rows.ts";
import { table } from "./table.ts";

const EXIT_FAILED = 1;
const EXIT_MISSING = 3;
const MS_PER_SECOND = 1_000;

export type RowResult = {
  readonly name: string;
  readonly calls: number;
  readonly faults: number;
  readonly inTransaction: number;
  readonly lost: number;
  readonly doubled: number;
  readonly worstGapMs: number;
  readonly seconds: number;
  /** Empty: the row passed. */
  readonly problems: readonly string[];
};

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    row: { type: "string", multiple: true, default: [] },
    kafka: { type: "string" },
    "transaction-version": { type: "string" },
  },
});

function versionOf() {
  const { kafka: version, "transaction-version": transactions } = values;
  return {
    ...(version === undefined ? {} : { version }),
    ...(transactions === undefined ? {} : { transactionVersion: Number(transactions) }),
  };
}

async function runRow(row: Row, cluster: Cluster): Promise<RowResult> {
  const { short } = values;
  const startedMs = Date.now();
  const problems: string[] = [];
  let lab: Run | undefined;
  const ends: (() => Promise<unknown>)[] = [];
  const counts = { calls: 0, lost: 0, doubled: 0 };
  try {
    lab = await row.run({
      ...{ cluster, short, version: versionOf() },
      open: async (options = {}) => {
        const one = await Lab.open({ cluster, ...options });
        ends.push(() => one.close());
        return one;
      },
      onEnd: (end) => void ends.push(end),
      fail: (problem) => void problems.push(problem),
    });
    const verdict = await lab.finish();
    Object.assign(counts, { calls: verdict.calls, lost: verdict.lost, doubled: verdict.doubled });
    problems.push(...verdict.problems, ...voidOf(row, lab, verdict));
    if (verdict.lost > 0) problems.push(lab.logs());
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    for (const end of ends.reverse()) await end();
  }
  return {
    ...{ name: row.name, ...counts, problems },
    faults: lab?.faults ?? 0,
    inTransaction: lab?.inTransaction ?? 0,
    worstGapMs: lab?.worstGapMs ?? 0,
    seconds: (Date.now() - startedMs) / MS_PER_SECOND,
  };
}

/** A run in which nothing was decided, or nothing was struck, proves nothing. */
function voidOf(
  row: Row,
  lab: Run,
  verdict: { calls: number; allowed: number; refused: number; lost: number; doubled: number },
): readonly string[] {
  const { short } = values;
  const problems: string[] = [];
  const needs = (have: number, least: number, what: string) => {
    if (have < least) problems.push(`void: ${have} ${what}, ${least} are needed`);
  };
  needs(verdict.calls, 50, "calls decided");
  needs(verdict.allowed, 10, "calls allowed");
  needs(verdict.refused, 5, "calls refused");
  needs(lab.faults, row.faultsMin(short), "faults");
  needs(lab.inTransaction, row.inTransactionMin?.(short) ?? 0, "faults inside a transaction");
  if (verdict.lost > 0) problems.push(`${verdict.lost} proposals were never decided`);
  if (verdict.doubled > 0) problems.push(`${verdict.doubled} proposals were decided twice`);
  if (row.gapMaxMs !== undefined && lab.worstGapMs > row.gapMaxMs) {
    problems.push(`${lab.worstGapMs} ms without a decision, at most ${row.gapMaxMs} are allowed`);
  }
  return problems;
}

async function main(): Promise<number> {
  const wanted = values.row;
  const rows = ROWS.filter(
    ({ name, inShort }) =>
      (inShort || !values.short) &&
      (wanted.length === 0 || wanted.some((text) => name.includes(text))),
  );
  if (rows.length === 0) throw new Error(`no row is called ${wanted.join(", ")}`);
  buildOnce();
  // The gate's client must be loaded before the one that waits for the brokers.
  connectKafka(["127.0.0.1:1"]);
  const kafka = await startKafka(versionOf());
  console.log(`Kafka ${kafka.version}, ${rows.length} rows${values.short ? ", short form" : ""}\n`);
  const results: RowResult[] = [];
  try {
    const { bootstrap, libs, brokers } = kafka;
    const cluster = { bootstrap, libs, brokers };
    for (const row of rows) {
      const result = await runRow(row, cluster);
      results.push(result);
      const word = result.problems.length === 0 ? "ok" : "FAILED";
      console.log(`${word}  ${row.name}  (${Math.round(result.seconds)} s)`);
      for (const problem of result.problems) console.log(`    ${problem}`);
    }
  } finally {
    await kafka.stop();
  }
  console.log(`\n${table(results)}`);
  const passed = results.filter(({ problems }) => problems.length === 0).length;
  const sum = (key: "calls" | "faults" | "inTransaction" | "lost" | "doubled") =>
    results.reduce((total, result) => total + result[key], 0);
  console.log(
    `faults: ${passed} of ${results.length} rows passed; ${sum("calls")} calls, ${sum("faults")} faults ` +
      `(${sum("inTransaction")} inside a transaction), ${sum("lost")} lost, ${sum("doubled")} doubled`,
  );
  return passed === results.length ? 0 : EXIT_FAILED;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof MissingError ? EXIT_MISSING : EXIT_FAILED;
  console.log("faults: not run");
}
