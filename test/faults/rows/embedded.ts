// The embedded log on a full disk.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { COMMAND } from "../lab/build.ts";
import type { Between } from "../lab/lab.ts";
import type { Judgement, Row, Run } from "../lab/row.ts";

type Answer = {
  readonly outcome: string;
  readonly decisionId?: string;
  readonly reason?: string;
  readonly atMs: number;
};

const PROGRAM = fileURLToPath(new URL("../lab/fill-disk.ts", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const CALLS = 400;
/** New calls that are decided before another process checks the journal. */
const CALLS_BEFORE_LOOK = 20;
const LOOK_EVERY_MS = 20;
const ERROR_LENGTH_MAX = 2_000;
/** The answers to a call that is not decided: from the gate, or from its log. */
const UNDECIDED: readonly string[] = ["gate_unavailable", "storage_unavailable"];
/** Limit on the size of a file, in KiB, where no small disk can be mounted. */
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
    let earlierAnswers: readonly Answer[] = [];
    for (const limit of LIMITS) {
      const startedMs = Date.now();
      const proposer = startProposer(dataDir, limit);
      onEnd(() => proposer.stop());
      await proposer.answered((answers) => answers.at(-1)?.decisionId === undefined);
      // The gate still runs, and its disk is full.
      for (const problem of (await verify(dataDir)).problems) fail(`${limit} KiB: ${problem}`);
      const answers = await proposer.stop();
      const last = answers.at(-1);
      if (!UNDECIDED.includes(last?.reason ?? ""))
        fail(`${limit} KiB: it ended with ${show(last)}`);
      tally.faults += 1;
      earlierAnswers = compared(earlierAnswers, answers, startedMs, tally);
    }
    const startedMs = Date.now();
    const proposer = startProposer(dataDir, null);
    onEnd(() => proposer.stop());
    const { length } = earlierAnswers;
    await proposer.answered((answers) => answers.length >= length + CALLS_BEFORE_LOOK);
    const before = proposer.count();
    const between = await verify(dataDir);
    if (proposer.count() === before) fail("void: nothing was decided while another looked");
    earlierAnswers = compared(earlierAnswers, await proposer.stop(), startedMs, tally);
    if (earlierAnswers.length < CALLS)
      fail(`with space enough ${earlierAnswers.length} of ${CALLS} were decided`);
    return runOf(tally, earlierAnswers, between, (await verify(dataDir)).problems);
  },
};

type Tally = { faults: number; worstGapMs: number; lost: number; doubled: number };

/** Checks that earlier decisions are repeated unchanged, and returns them with the new ones. */
function compared(
  earlierAnswers: readonly Answer[],
  answers: readonly Answer[],
  startedMs: number,
  tally: Tally,
): readonly Answer[] {
  const decided = answers.filter(({ decisionId }) => decisionId !== undefined);
  tally.lost += Math.max(0, earlierAnswers.length - decided.length);
  tally.doubled += earlierAnswers.filter((one, number) => isOther(one, decided[number])).length;
  const fresh = decided[earlierAnswers.length];
  if (fresh !== undefined) tally.worstGapMs = Math.max(tally.worstGapMs, fresh.atMs - startedMs);
  return decided.length > earlierAnswers.length ? decided : earlierAnswers;
}

function isOther(one: Answer, again: Answer | undefined): boolean {
  if (again === undefined) return false;
  return one.decisionId !== again.decisionId || one.outcome !== again.outcome;
}

function show(answer: Answer | undefined): string {
  return JSON.stringify(answer ?? "no answer");
}

function runOf(
  tally: Tally,
  answers: readonly Answer[],
  between: Between,
  problems: readonly string[],
): Run {
  const count = (outcome: string) => answers.filter((one) => one.outcome === outcome).length;
  const verdict: Judgement = {
    ...{ calls: answers.length, lost: tally.lost, doubled: tally.doubled, problems, between },
    ...{ allowed: count("allowed"), refused: count("refused"), held: count("held") },
  };
  return { ...tally, inTransaction: 0, finish: async () => verdict, logs: () => "" };
}

type Proposer = {
  count(): number;
  /** Waits until its output fulfils the condition, or it has ended. */
  answered(condition: (answers: readonly Answer[]) => boolean): Promise<void>;
  /** Tells it to end; resolves to all of its output. */
  stop(): Promise<readonly Answer[]>;
};

function startProposer(dataDir: string, limit: number | null): Proposer {
  const ulimit = limit === null ? "" : `ulimit -f ${limit};`;
  const command = `${ulimit} exec "$0" --import tsx "$1" "$2" "$3"`;
  const args = ["-c", command, process.execPath, PROGRAM, dataDir, String(CALLS)];
  const child = spawn("bash", args, { cwd: REPOSITORY, stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  // LMDB prints every page that it could not write.
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = `${errors}${text}`.slice(-ERROR_LENGTH_MAX);
  });
  const answers: Answer[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => answers.push(JSON.parse(line) as Answer));
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      hasEnded = true;
      resolve();
    });
  });
  return {
    count: () => answers.length,
    answered: async (condition) => {
      while (!(hasEnded || (answers.length > 0 && condition(answers)))) await sleep(LOOK_EVERY_MS);
      if (answers.length === 0) throw new Error(`the program said nothing: ${errors}`);
    },
    stop: async () => {
      child.stdin.end();
      await ended;
      return answers;
    },
  };
}

/** Runs `callgate verify` on the journal in a process of its own. */
async function verify(dataDir: string): Promise<Between> {
  const args = [COMMAND, "verify", "--data-dir", dataDir, "--json"];
  // With findings its exit code is not 0.
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: { readonly stdout: string }) => error,
  );
  const report = JSON.parse(stdout) as VerifyReport;
  const calls = report.partitions.reduce((sum, { records }) => sum + records, 0);
  return { calls, problems: report.ok ? [] : [`verify: ${stdout}`] };
}

type VerifyReport = {
  readonly ok: boolean;
  readonly partitions: readonly { readonly records: number }[];
};
