// `npm run test:faults`: real brokers, real processes, real deaths. Prints a row for each fault and ends
// with the verdict. Exit codes: 1 a row failed, proved nothing or did not end, 3 a part is missing.
//   --short       the rows and numbers of every change
//   --row TEXT    only rows whose name contains the text; may be given again
//   --kafka V     a version of infra/versions.json
//   --transaction-version 0|2
//   --minutes N   rows that have not begun by then do not run, which is a failure; 25 by default
import { choiceOption, positiveOption, runnerOptions } from "../../tasks/runner-options.js";

/** After this time the process ends even if a row left something running. */
const HANGS_MS = 5_000;

const values = runnerOptions("test:faults", {
  short: { type: "boolean", default: false },
  row: { type: "string", multiple: true, default: [] },
  kafka: { type: "string" },
  "transaction-version": { type: "string" },
  minutes: { type: "string", default: "25" },
});
const minutesMax = positiveOption("test:faults", "minutes", values.minutes);
const { short, row: rows, kafka: version, "transaction-version": transactions } = values;
if (transactions !== undefined) {
  choiceOption("test:faults", "transaction-version", transactions, ["0", "2"]);
}
// Loaded after the options are checked, since it takes seconds.
const { runSuite } = await import("./run-suite.ts");
process.exitCode = await runSuite({
  short,
  rows,
  minutesMax,
  version: {
    ...(version === undefined ? {} : { version }),
    ...(transactions === undefined ? {} : { transactionVersion: Number(transactions) }),
  },
});
setTimeout(() => process.exit(), HANGS_MS).unref();
