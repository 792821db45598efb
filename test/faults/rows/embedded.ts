// The embedded log, whose disk is full.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { COMMAND } from "../lab/build.ts";
import type { Verdict } from "../lab/check-run.ts";
import type { Row, Run } from "../lab/row.ts";

type Answer = {
  readonly outcome: string;
  readonly decisionId?: string;
  readonly reason?: string;
  readonly atMs: number;
};

const PROGRAM = fileURLToPath(new URL("../lab/fill-disk.ts", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const CALLS = 400;
/** What a program is told of a call that is not decided: by the gate, or by its log. */
const UNDECIDED: readonly string[] = ["gate_unavailable", "storage_unavailable"];
/** For a file, in KiB: it stands for a full disk wherever no disk can be made small. */
const LIMITS = [2_500, 5_000, 10_000];

export const diskFull: Row = {
  name: "disk of the embedded log full",
  about: "calls are refused, none is half decided; with space again it goes on where it was",
  inShort: false,
  faultsMin: () => LIMITS.length,
  run: async ({ onEnd, fail }) => {
    const directory = mkdtempSync(join(tmpdir(), "callgate-full-disk-"));
    onEnd(async () => rmSync(directory, { recursive: true, force: true }));
    const dataDir = join(directory, "data");
    const tally: Tally = { faults: 0, worstGapMs: 0, lost: 0, doubled: 0 };
    let known: readonly Answer[] = [];
    for (const limit of LIMITS) {
      const startedMs = Date.now();
      const answers = await proposeAll(dataDir, limit);
      const last = answers.at(-1);
      if (!UNDECIDED.includes(last?.reason ?? ""))
        fail(`${limit} KiB: it ended with ${show(last)}`);
      tally.faults += 1;
      known = compared(known, answers, startedMs, tally);
    }
    const startedMs = Date.now();
    known = compared(known, await proposeAll(dataDir, null), startedMs, tally);
    if (known.length < CALLS) fail(`with space enough ${known.length} of ${CALLS} were decided`);
    return runOf(tally, known, await verify(dataDir));
  },
};

type Tally = { faults: number; worstGapMs: number; lost: number; doubled: number };

/** What was decided by now: what was known is told again, as it was, and more after it. */
function compared(
  known: readonly Answer[],
  answers: readonly Answer[],
  startedMs: number,
  tally: Tally,
): readonly Answer[] {
  const decided = answers.filter(({ decisionId }) => decisionId !== undefined);
  tally.lost += Math.max(0, known.length - decided.length);
  tally.doubled += known.filter((one, number) => isOther(one, decided[number])).length;
  const fresh = decided[known.length];
  if (fresh !== undefined) tally.worstGapMs = Math.max(tally.worstGapMs, fresh.atMs - startedMs);
  return decided.length > known.length ? decided : known;
}

function isOther(one: Answer, again: Answer | undefined): boolean {
  if (again === undefined) return false;
  return one.decisionId !== again.decisionId || one.outcome !== again.outcome;
}

function show(answer: Answer | undefined): string {
  return JSON.stringify(answer ?? "no answer");
}

function runOf(tally: Tally, answers: readonly Answer[], problems: readonly string[]): Run {
  const count = (outcome: string) => answers.filter((one) => one.outcome === outcome).length;
  const verdict: Verdict = {
    ...{ calls: answers.length, lost: tally.lost, doubled: tally.doubled, problems },
    ...{ allowed: count("allowed"), refused: count("refused"), held: count("held") },
  };
  return { ...tally, inTransaction: 0, finish: async () => verdict, logs: () => "" };
}

async function proposeAll(dataDir: string, limit: number | null): Promise<readonly Answer[]> {
  const ulimit = limit === null ? "" : `ulimit -f ${limit};`;
  const command = `${ulimit} exec "$0" --import tsx "$1" "$2" "$3"`;
  const args = ["-c", command, process.execPath, PROGRAM, dataDir, String(CALLS)];
  const lines = await linesOf("bash", args);
  return lines.map((line) => JSON.parse(line) as Answer);
}

/** What `callgate verify` finds in the journal. */
async function verify(dataDir: string): Promise<readonly string[]> {
  const told = await linesOf(process.execPath, [
    COMMAND,
    "verify",
    "--data-dir",
    dataDir,
    "--json",
  ]);
  const report = JSON.parse(told.join("")) as { readonly ok?: boolean };
  return report.ok === true ? [] : [`verify: ${told.join("")}`];
}

async function linesOf(command: string, args: readonly string[]): Promise<readonly string[]> {
  const child = spawn(command, args, { cwd: REPOSITORY, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  // LMDB tells of every page that it could not write.
  if (lines.length === 0) throw new Error(`${command} said nothing: ${errors.slice(-2_000)}`);
  return lines;
}
