/** The evaluation as text, in tables that are also Markdown. */

import { caughtPct, doubledPct, type Figures, harmedOf } from "./figures.ts";
import type { Case } from "./find-cases.ts";
import type { SourceRun } from "./replay-source.ts";
import type { PoolScore, Score } from "./score.ts";
import { textTable } from "./text-table.ts";

const SHOWN_CALLS = 3;
const SHOWN_ARGUMENTS = 100;

const pct = (value: number | null) => (value === null ? "-" : value.toFixed(1));

const COLUMNS: readonly (readonly [string, (figures: Figures) => string])[] = [
  ["guard", (f) => f.name],
  ["GT blocked", (f) => String(f.groundTruthBlocked)],
  ["GT harmed", (f) => String(f.groundTruthHarmed)],
  ["success blocked", (f) => String(f.successBlocked)],
  ["success harmed", (f) => String(f.successHarmed)],
  ["harmful calls", (f) => String(f.harmfulCalls)],
  ["per 1,000", (f) => f.harmfulPer1000.toFixed(2)],
  ["warned", (f) => String(f.warned)],
  ["loops caught %", (f) => pct(f.loopsCaughtPct)],
  ["ordinary %", (f) => pct(f.ordinaryCaughtPct)],
  ["let through", (f) => f.letThrough.toFixed(1)],
  ["saved %", (f) => pct(f.ordinarySavedPct)],
  ["doubled %", (f) => pct(f.doubledPct)],
  ["outside loops %", (f) => pct(f.doubledOutsidePct)],
  ["with args %", (f) => pct(f.doubledWithArgumentsPct)],
  ["us/call", (f) => pct(f.usPerCall)],
];

export function comparison(rows: readonly Figures[]): string {
  return textTable(
    COLUMNS.map(([title]) => title),
    rows.map((row) => COLUMNS.map(([, cell]) => cell(row))),
  );
}

/** The harmed, blocked and all conversations of each source, with its loops and doubled writes. */
export function bySource(runs: readonly SourceRun[], ours: Score, rules: Score): string {
  const titles = ["source", "conv.", "calls", "GT", "success", "loops %", "doubled %"];
  const devices = Object.keys(ours.by_source).filter((key) => key.includes("user device"));
  const names = [
    ...runs.map(({ name }) => name),
    ...new Set(devices.map((key) => key.split(" | ")[2] ?? "")),
  ];
  const rows = names.flatMap((name) => {
    const run = runs.find((candidate) => candidate.name === name);
    const counts = [String(run?.conversations ?? "-"), String(run?.calls ?? "-")];
    return [
      [name, ...counts, ...sourceCells(name, ours)],
      ["  five rules", "", "", ...sourceCells(name, rules)],
    ];
  });
  return textTable(titles, rows);
}

function sourceCells(name: string, score: Score): string[] {
  const pool = (key: string): PoolScore | undefined => score.by_source[`open | ${key} | ${name}`];
  const loops = score.loops_by_source[`open | ${name}`];
  const doubles = score.doubled_writes_by_source[`open | ${name}`];
  return [
    harmedOf(pool("ground truth")),
    harmedOf(pool("success")),
    loops === undefined ? "-" : pct(caughtPct(loops)),
    doubles === undefined ? "-" : pct(doubledPct(doubles)),
  ];
}

export function cases(worstCases: readonly Case[]): string {
  return worstCases.map(caseText).join("\n");
}

function caseText({ source, id, location, pool, calls }: Case): string {
  const shown = calls.slice(0, SHOWN_CALLS).map((call) => {
    const { index, tool, argumentsText, reason, why, because } = call;
    const args = argumentsText.slice(0, SHOWN_ARGUMENTS);
    return `    #${index} ${tool}(${args}) ${reason}: ${why}; ${because}`;
  });
  const more = calls.length > SHOWN_CALLS ? [`    and ${calls.length - SHOWN_CALLS} more`] : [];
  const file = location.slice(location.lastIndexOf("/") + 1);
  return [`- [${pool}] ${source} ${id} (${file})`, ...shown, ...more].join("\n");
}
