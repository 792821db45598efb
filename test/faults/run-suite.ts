import { isRegistryFetched } from "../../infra/local/fetch-parts.js";
import { MissingError, requirePrograms } from "../../infra/local/missing.js";
import { startKafka } from "../../infra/local/start-kafka.js";
import { buildOnce, CLASSES } from "./lab/build.ts";
import { compileReader } from "./lab/read-topics.ts";
import type { Row } from "./lab/row.ts";
import { type RowResult, runRow } from "./lab/run-row.ts";
import { ROWS } from "./rows.ts";
import { table } from "./table.ts";
import { problemsOfRun } from "./whole-run.ts";

const EXIT_FAILED = 1;
const EXIT_MISSING = 3;
const MS_PER_MINUTE = 60_000;

/** The options of `npm run test:faults`. */
export interface SuiteOptions {
  readonly short: boolean;
  /** A row runs if its name contains one of these texts; empty: all rows run. */
  readonly rows: readonly string[];
  readonly version: { readonly version?: string; readonly transactionVersion?: number };
  readonly minutesMax: number;
}

function wantedRows({ short, rows: wanted }: SuiteOptions): readonly Row[] {
  const rows = ROWS.filter(
    ({ name, inShort }) =>
      (inShort || !short) && (wanted.length === 0 || wanted.some((text) => name.includes(text))),
  );
  if (rows.length === 0) throw new Error(`no row is called ${wanted.join(", ")}`);
  const needs = new Set(rows.flatMap((row) => row.needs ?? []));
  requirePrograms(["java", ...(needs.has("redis") ? ["redis-server"] : [])]);
  if (needs.has("registry") && !isRegistryFetched()) {
    throw new MissingError("the registry is not in the cache: run `npm run infra:fetch`");
  }
  return rows;
}

/** The brokers that rows share; they are started again after a row that did not end. */
class SharedKafka {
  readonly #version: SuiteOptions["version"];
  #kafka: ReturnType<typeof startKafka>;

  constructor(version: SuiteOptions["version"]) {
    this.#version = version;
    this.#kafka = startKafka(version);
  }

  async cluster() {
    const { bootstrap, libs, brokers } = await this.#kafka;
    return { bootstrap, libs, brokers, classes: CLASSES };
  }

  async version(): Promise<string> {
    return (await this.#kafka).version;
  }

  async renew(): Promise<void> {
    await this.stop();
    this.#kafka = startKafka(this.#version);
    await this.#kafka;
  }

  async stop(): Promise<void> {
    await (await this.#kafka).stop();
  }
}

async function runRows(
  rows: readonly Row[],
  kafka: SharedKafka,
  { short, version, minutesMax }: SuiteOptions,
): Promise<readonly RowResult[]> {
  const untilMs = Date.now() + minutesMax * MS_PER_MINUTE;
  const results: RowResult[] = [];
  for (const row of rows) {
    if (Date.now() > untilMs) {
      console.log(`FAILED  ${row.name}: not run, ${minutesMax} minutes are over`);
      continue;
    }
    const result = await runRow(row, { cluster: await kafka.cluster(), short, version, untilMs });
    results.push(result);
    const word = result.problems.length === 0 ? "ok" : "FAILED";
    console.log(`${word}  ${row.name}  (${Math.round(result.seconds)} s)`);
    for (const problem of result.problems) console.log(`    ${problem}`);
    if (result.overran) await kafka.renew();
  }
  return results;
}

async function runAll(options: SuiteOptions): Promise<number> {
  const startedMs = Date.now();
  const rows = wantedRows(options);
  buildOnce();
  const kafka = new SharedKafka(options.version);
  let results: readonly RowResult[];
  try {
    const { libs } = await kafka.cluster();
    await compileReader(libs, CLASSES);
    const form = options.short ? ", short form" : "";
    console.log(`Kafka ${await kafka.version()}, ${rows.length} rows${form}\n`);
    results = await runRows(rows, kafka, options);
  } finally {
    await kafka.stop();
  }
  console.log(`\n${table(results)}`);
  const problems = problemsOfRun(results, { isPicked: options.rows.length > 0 });
  for (const problem of problems) console.log(`FAILED  the run as a whole: ${problem}`);
  const passed = results.filter(({ problems }) => problems.length === 0).length;
  const sum = (key: "calls" | "faults" | "inTransaction" | "lost" | "doubled") =>
    results.reduce((total, result) => total + result[key], 0);
  const minutes = ((Date.now() - startedMs) / MS_PER_MINUTE).toFixed(1);
  console.log(
    `faults: ${passed} of ${rows.length} rows passed in ${minutes} min; ${sum("calls")} calls, ` +
      `${sum("faults")} faults (${sum("inTransaction")} inside a transaction), ` +
      `${sum("lost")} lost, ${sum("doubled")} doubled`,
  );
  return passed === rows.length && problems.length === 0 ? 0 : EXIT_FAILED;
}

/** The exit code. */
export async function runSuite(options: SuiteOptions): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      console.log(`faults: ended by ${signal}`);
      process.exit(EXIT_FAILED);
    });
  }
  try {
    return await runAll(options);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.log("faults: not run");
    return error instanceof MissingError ? EXIT_MISSING : EXIT_FAILED;
  }
}
