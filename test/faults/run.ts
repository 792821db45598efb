// `npm run test:faults`: real brokers, real processes, real deaths. Prints a row for each fault and ends
// with the verdict. Exit codes: 1 a row failed, proved nothing or did not end, 3 a part is missing.
//   --short       the rows and numbers of every change
//   --row TEXT    only rows whose name contains the text; may be given again
//   --kafka V     a version of infra/versions.json
//   --transaction-version 0|2
//   --minutes N   rows that have not begun by then do not run, which is a failure; 25 by default
import { isRegistryFetched } from "../../infra/local/fetch-parts.js";
import { MissingError, requirePrograms } from "../../infra/local/missing.js";
import { startKafka } from "../../infra/local/start-kafka.js";
import { choiceOption, positiveOption, runnerOptions } from "../../tasks/runner-options.js";
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
/** What a row left hanging does not keep the suite from ending. */
const HANGS_MS = 5_000;

const values = runnerOptions("test:faults", {
  short: { type: "boolean", default: false },
  row: { type: "string", multiple: true, default: [] },
  kafka: { type: "string" },
  "transaction-version": { type: "string" },
  minutes: { type: "string", default: "25" },
});
const minutesAtMost = positiveOption("test:faults", "minutes", values.minutes);
const transactions = values["transaction-version"];
if (transactions !== undefined) {
  choiceOption("test:faults", "transaction-version", transactions, ["0", "2"]);
}

function versionOf() {
  const { kafka: version } = values;
  return {
    ...(version === undefined ? {} : { version }),
    ...(transactions === undefined ? {} : { transactionVersion: Number(transactions) }),
  };
}

function wantedRows(): readonly Row[] {
  const { short, row: wanted } = values;
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

/** The brokers that rows share; started again after a row that did not end. */
class SharedKafka {
  #kafka = startKafka(versionOf());

  async cluster() {
    const { bootstrap, libs, brokers } = await this.#kafka;
    return { bootstrap, libs, brokers, classes: CLASSES };
  }

  async version(): Promise<string> {
    return (await this.#kafka).version;
  }

  async renew(): Promise<void> {
    await this.stop();
    this.#kafka = startKafka(versionOf());
    await this.#kafka;
  }

  async stop(): Promise<void> {
    await (await this.#kafka).stop();
  }
}

async function runRows(rows: readonly Row[], kafka: SharedKafka): Promise<readonly RowResult[]> {
  const untilMs = Date.now() + minutesAtMost * MS_PER_MINUTE;
  const results: RowResult[] = [];
  for (const row of rows) {
    if (Date.now() > untilMs) {
      console.log(`FAILED  ${row.name}: not run, ${minutesAtMost} minutes are over`);
      continue;
    }
    const { short } = values;
    const version = versionOf();
    const result = await runRow(row, { cluster: await kafka.cluster(), short, version, untilMs });
    results.push(result);
    const word = result.problems.length === 0 ? "ok" : "FAILED";
    console.log(`${word}  ${row.name}  (${Math.round(result.seconds)} s)`);
    for (const problem of result.problems) console.log(`    ${problem}`);
    if (result.overran) await kafka.renew();
  }
  return results;
}

async function main(): Promise<number> {
  const startedMs = Date.now();
  const rows = wantedRows();
  buildOnce();
  const kafka = new SharedKafka();
  let results: readonly RowResult[];
  try {
    const { libs } = await kafka.cluster();
    await compileReader(libs, CLASSES);
    const form = values.short ? ", short form" : "";
    console.log(`Kafka ${await kafka.version()}, ${rows.length} rows${form}\n`);
    results = await runRows(rows, kafka);
  } finally {
    await kafka.stop();
  }
  console.log(`\n${table(results)}`);
  const problems = problemsOfRun(results, { isPicked: values.row.length > 0 });
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

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    console.log(`faults: ended by ${signal}`);
    process.exit(EXIT_FAILED);
  });
}
try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof MissingError ? EXIT_MISSING : EXIT_FAILED;
  console.log("faults: not run");
}
setTimeout(() => process.exit(), HANGS_MS).unref();
