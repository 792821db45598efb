/** The part of the evaluation in which agents react to what a guard says. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { PartResult, PartTarget } from "../part-result.ts";
import { textTable } from "../text-table.ts";
import { AGENTS, type AgentName, agentOf } from "./agents.ts";
import { GUARDS, type GuardName, openGuard } from "./guards.ts";
import { playTask, type TaskRun } from "./play-task.ts";
import { drawFrom } from "./random.ts";
import { TASKS, type Task } from "./tasks.ts";
import { World } from "./world.ts";

const SEEDS = [1, 2, 3, 4, 5];
const POLICY = fileURLToPath(new URL("policy.yaml", import.meta.url));

interface LoopRun extends TaskRun {
  readonly guard: GuardName;
  readonly agent: AgentName;
  readonly task: string;
}

export async function evaluateLoop(
  print: (text: string) => void,
  verbose: boolean,
): Promise<PartResult> {
  print("## Closed loop\n");
  const runs = await playAll();
  print(
    textTable(
      TITLES,
      GUARDS.map((guard) => rowOf(guard, runs)),
    ),
  );
  if (verbose) for (const guard of GUARDS) printTasks(print, guard, runs);
  print("");
  return { name: "loop", missing: [], targets: targetsOf(runs) };
}

async function playAll(): Promise<readonly LoopRun[]> {
  const policy = parse(readFileSync(POLICY, "utf8")) as PolicyDocument;
  const runs: LoopRun[] = [];
  for (const guard of GUARDS) {
    for (const agent of AGENTS) {
      for (const task of TASKS) {
        for (const seed of SEEDS) runs.push(await playOne({ guard, agent, task, seed, policy }));
      }
    }
  }
  return runs;
}

interface PolicyDocument {
  readonly tool_schemas: Readonly<Record<string, { readonly effects?: unknown }>>;
}

interface Case {
  readonly guard: GuardName;
  readonly agent: AgentName;
  readonly task: Task;
  readonly seed: number;
  readonly policy: PolicyDocument;
}

async function playOne({ guard: name, agent, task, seed, policy }: Case): Promise<LoopRun> {
  const realNow = Date.now;
  const world = new World();
  Date.now = () => world.nowMs;
  try {
    const guard = await openGuard(name, policy, readsOf(policy));
    try {
      // The same draws for every guard, so that all face the same mistakes.
      const draw = drawFrom(seed * 1_000 + TASKS.indexOf(task));
      const run = await playTask(task, agentOf(agent), { guard, world, draw });
      return { ...run, guard: name, agent, task: task.name };
    } finally {
      await guard.close();
    }
  } finally {
    Date.now = realNow;
  }
}

function readsOf({ tool_schemas: schemas }: PolicyDocument): ReadonlySet<string> {
  const isRead = (schema: object) =>
    "reads" in schema || ("read_only" in schema && schema.read_only === true);
  return new Set(
    Object.entries(schemas).flatMap(([name, schema]) => (isRead(schema) ? [name] : [])),
  );
}

interface Totals {
  readonly tasks: number;
  readonly solved: number;
  readonly proposed: number;
  readonly run: number;
  readonly doubled: number;
  readonly asked: number;
  readonly refusals: number;
  readonly followed: number;
}

function sumRuns(runs: readonly LoopRun[]): Totals {
  const sum = (of: (run: LoopRun) => number): number =>
    runs.reduce((total, run) => total + of(run), 0);
  return {
    tasks: runs.length,
    solved: runs.filter(({ solved }) => solved).length,
    proposed: sum(({ proposed }) => proposed),
    run: sum(({ run }) => run),
    doubled: sum(({ doubled }) => doubled),
    asked: sum(({ asked }) => asked),
    refusals: sum(({ refusals }) => refusals),
    followed: sum(({ followed }) => followed),
  };
}

const TITLES = [
  "guard",
  "tasks solved",
  "of",
  "calls proposed",
  "calls run",
  "run for each solved",
  "effects doubled",
  "people asked",
  "refusals",
  "followed",
];

function rowOf(guard: GuardName, runs: readonly LoopRun[]): readonly string[] {
  const totals = totalsOf(guard, runs);
  const { solved, tasks, proposed, run, doubled, asked, refusals, followed } = totals;
  const calls = [solved, tasks, proposed, run].map(String);
  const counts = [doubled, asked, refusals, followed].map(String);
  return [guard, ...calls, runPerSolved(totals).toFixed(2), ...counts];
}

function totalsOf(guard: GuardName, runs: readonly LoopRun[]): Totals {
  return sumRuns(runs.filter((run) => run.guard === guard));
}

/** A guard that leaves tasks unsolved saves their calls too, so calls alone would compare nothing. */
function runPerSolved({ run, solved }: Totals): number {
  return run / Math.max(1, solved);
}

function targetsOf(runs: readonly LoopRun[]): readonly PartTarget[] {
  const ours = totalsOf("callgate", runs);
  const others = GUARDS.filter((guard) => guard !== "callgate").map((guard) =>
    totalsOf(guard, runs),
  );
  const fewestRun = Math.min(...others.map(runPerSolved));
  const fewestDoubled = Math.min(...others.map(({ doubled }) => doubled));
  const solvedWithout = totalsOf("none", runs).solved;
  return [
    {
      name: "tasks solved, as many as without a guard",
      wanted: `at least ${solvedWithout}`,
      actual: String(ours.solved),
      ok: ours.solved >= solvedWithout,
    },
    {
      name: "calls run for each task solved, fewer than behind any other",
      wanted: `below ${fewestRun.toFixed(2)}`,
      actual: runPerSolved(ours).toFixed(2),
      ok: runPerSolved(ours) < fewestRun,
    },
    {
      name: "effects doubled, fewer than behind any other",
      wanted: `below ${fewestDoubled}`,
      actual: String(ours.doubled),
      ok: ours.doubled < fewestDoubled,
    },
    {
      name: "refusals whose structured members say what to do",
      wanted: "all",
      actual: `${ours.followed} of ${ours.refusals}`,
      ok: ours.followed === ours.refusals,
    },
  ];
}

function printTasks(
  print: (text: string) => void,
  guard: GuardName,
  runs: readonly LoopRun[],
): void {
  print(`\n### ${guard}, by task and agent\n`);
  for (const { name } of TASKS) {
    for (const agent of AGENTS) {
      const chosen = runs.filter(
        (run) => run.guard === guard && run.task === name && run.agent === agent,
      );
      const { solved, tasks, run, doubled, asked, refusals, followed } = sumRuns(chosen);
      print(
        `- ${name}, ${agent}: ${solved} of ${tasks} solved, ${run} run, ${doubled} doubled, ` +
          `${asked} asked, ${followed} of ${refusals} refusals followed`,
      );
    }
  }
}
