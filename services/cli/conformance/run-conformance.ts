/**
 * `callgate conformance executor`: drives an executor in any language through Kafka, kills it at
 * each step, and says which rules of docs/executor-protocol.md it keeps.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  EXIT_FINDINGS,
  EXIT_OK,
  type ExitCode,
  environmentError,
} from "../../process/exit-error.ts";
import { openConfig } from "../../process/open-config.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted, printable } from "../output/text.ts";
import type { ExecutorProcess } from "./executor-process.ts";
import { Lab } from "./lab.ts";
import { RuleBroken } from "./rule-broken.ts";
import { CALL_RULES } from "./rules/call-rules.ts";
import { KILL_RULES } from "./rules/kill-rules.ts";
import { OWNER_RULES } from "./rules/owner-rules.ts";
import type { Rule } from "./rules/rule.ts";

export type ConformanceOptions = {
  readonly config: string | undefined;
  readonly command: string;
  /** Ids of the rules to run; empty: all. */
  readonly rules: readonly string[];
  readonly json: boolean;
};

type Row = { readonly rule: string; readonly ok: boolean; readonly detail: string };

/** Judged at the end, over all records. */
const FORM = { id: "form", what: "no call took effect twice, and every record has its form" };

type Totals = { readonly calls: number; readonly kills: number; readonly doubled: number };

export const RULES: readonly Rule[] = [...CALL_RULES, ...KILL_RULES, ...OWNER_RULES];

const STARTS_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;
const OWN_ENDS_MAX = 5;
const DETAIL_CHARACTERS_MAX = 2_000;
const OUTPUT_LINES = 10;

export async function runConformance(
  { config: file, command, rules, json }: ConformanceOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const chosen = rules.length === 0 ? RULES : RULES.filter(({ id }) => rules.includes(id));
  const lab = await Lab.open(openConfig(file, ["kafka.brokers"]), command);
  const rows: Row[] = [];
  try {
    const executor = lab.createExecutor();
    executor.start();
    await untilItRuns(lab, executor);
    for (const rule of chosen) {
      const row = await tryRule(rule, lab, executor);
      rows.push(row);
      if (!json) await terminal.out.write(renderRow(rule, row, terminal));
    }
    const { executors } = lab;
    const form = judgeForm(lab);
    rows.push(form);
    if (!json) await terminal.out.write(renderRow(FORM, form, terminal));
    const kills = executors.reduce((sum, one) => sum + one.kills, 0);
    const doubled = lab.published.filter((call) => lab.effectsOf(call).length > 1).length;
    const totals = { calls: lab.published.length, kills, doubled };
    await tell(rows, totals, json, terminal);
  } finally {
    await lab.close();
  }
  return rows.every(({ ok }) => ok) ? EXIT_OK : EXIT_FINDINGS;
}

/** @throws ExitError: the command does not run calls at all. */
async function untilItRuns(lab: Lab, executor: ExecutorProcess): Promise<void> {
  const first = await lab.publish();
  const untilMs = performance.now() + STARTS_WITHIN_MS;
  while (lab.effectsOf(first).length === 0) {
    const isGone = executor.ownEnds >= OWN_ENDS_MAX;
    if (isGone || performance.now() > untilMs) {
      const what = isGone ? "ends by itself" : `ran no call within ${STARTS_WITHIN_MS / 1_000} s`;
      throw environmentError([
        `the command ${what}: it needs a handler for \`conformance_effect\` that posts to CALLGATE_CONFORMANCE_URL (docs/executor-protocol.md)`,
        ...lastLines(executor),
      ]);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

async function tryRule(rule: Rule, lab: Lab, executor: ExecutorProcess): Promise<Row> {
  try {
    return { rule: rule.id, ok: true, detail: await rule.run({ lab, executor }) };
  } catch (error) {
    if (!(error instanceof RuleBroken)) throw error;
    // The next rule begins with an executor that runs.
    executor.resume();
    await executor.restart();
    const lines = [error.message, ...lastLines(executor)];
    return { rule: rule.id, ok: false, detail: lines.join("\n") };
  }
}

/** What holds for all records and requests of the run. */
function judgeForm(lab: Lab): Row {
  const [unreadable] = lab.unreadable;
  const problems = [
    ...(unreadable === undefined ? [] : [`a result cannot be read: ${unreadable}`]),
    ...(lab.endpointProblem === null ? [] : [`a request to the tool: ${lab.endpointProblem}`]),
  ];
  const doubled = lab.published.filter((call) => lab.effectsOf(call).length > 1).length;
  if (doubled > 0) problems.push(`${counted(doubled, "call")} took effect twice`);
  const detail = problems.length === 0 ? "none did" : problems.join("\n");
  return { rule: FORM.id, ok: problems.length === 0, detail };
}

function lastLines({ output }: ExecutorProcess): readonly string[] {
  return output === "" ? [] : ["it wrote:", ...output.split("\n").slice(-OUTPUT_LINES)];
}

const ID_COLUMNS = Math.max(...RULES.map(({ id }) => id.length));

function renderRow(
  { id, what }: Pick<Rule, "id" | "what">,
  { ok, detail }: Row,
  { out }: Terminal,
): string {
  const sign = ok ? out.style.good("ok    ") : out.style.bad("broken");
  const lines = detail.split("\n").map((line) => printable(line, DETAIL_CHARACTERS_MAX));
  const [first = "", ...more] = lines;
  const rest = more.map((line) => `        ${line}\n`).join("");
  return `${sign}  ${id.padEnd(ID_COLUMNS)}  ${what}: ${first}\n${rest}`;
}

async function tell(
  rows: readonly Row[],
  totals: Totals,
  json: boolean,
  { out }: Terminal,
): Promise<void> {
  const broken = rows.filter(({ ok }) => !ok).length;
  if (json) {
    await out.write(`${JSON.stringify({ conformant: broken === 0, ...totals, rules: rows })}\n`);
    return;
  }
  const verdict = broken === 0 ? "conformant" : `not conformant: ${counted(broken, "rule")} broken`;
  const { calls, kills, doubled } = totals;
  const counts = `${counted(rows.length, "rule")}, ${counted(calls, "call")}, ${counted(kills, "kill")}`;
  await out.write(`${verdict}; ${counts}, ${doubled} doubled\n`);
}
