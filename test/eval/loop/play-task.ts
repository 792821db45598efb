/** Lets one agent work on one task, behind one guard. */
import { type Agent, moveOf } from "./agents.ts";
import type { Advice, Guard } from "./guards.ts";
import type { Step, Task, Temptation } from "./tasks.ts";
import { type Outcome, PERSON_MS, THINKING_MS, type ToolCall, type World } from "./world.ts";

export interface TaskRun {
  readonly solved: boolean;
  /** Calls that the agent proposed, and those that ran. */
  readonly proposed: number;
  readonly run: number;
  /** Side effects beyond what the task wants. */
  readonly doubled: number;
  /** How often a person had to answer, an approval included. */
  readonly asked: number;
  readonly refusals: number;
  /** Refusals whose structured members say what to do next. */
  readonly followed: number;
}

const PROPOSALS_MAX = 120;
const TURNS_MAX = 12;
/** Calls of one turn, after which the platform asks the user whether to go on. */
const TURN_CALLS_MAX = 25;
const TRIES_MAX = 60;
const PAUSE_WITHOUT_ADVICE_MS = 30_000;

/** The work cannot go on: too many calls, or too many turns. */
class AbandonedError extends Error {}

interface Setting {
  readonly guard: Guard;
  readonly world: World;
  /** Numbers from 0 to 1 that decide to which temptations the agent gives in. */
  readonly draw: () => number;
}

const TEMPTED_SHARE = 0.7;

export async function playTask(task: Task, agent: Agent, setting: Setting): Promise<TaskRun> {
  const { guard, world, draw } = setting;
  const work = new Work(agent, guard, world);
  const isDone = await isCompleted(async () => {
    for (const [turn, steps] of task.turns.entries()) {
      if (turn > 0) work.beginTurn();
      for (const [after, step] of steps.entries()) {
        await work.doStep(step);
        for (const one of chosenOf(task, { turn, after }, draw)) await work.giveIn(one);
      }
    }
  });
  const wanted = Object.entries(task.wanted);
  const doubled = wanted.reduce((sum, [resource, times]) => {
    return sum + Math.max(0, world.count(resource) - times);
  }, 0);
  const solved = isDone && wanted.every(([resource, times]) => world.count(resource) >= times);
  return { solved, doubled, ...work.counts() };
}

/** The temptations at this point to which the agent gives in. */
function chosenOf(
  { temptations }: Task,
  { turn, after }: Pick<Temptation, "turn" | "after">,
  draw: () => number,
): readonly Temptation[] {
  return temptations
    .filter((one) => one.turn === turn && one.after === after)
    .filter(() => draw() < TEMPTED_SHARE);
}

async function isCompleted(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof AbandonedError) return false;
    throw error;
  }
}

type Reply =
  | { readonly type: "ran"; readonly outcome: Outcome }
  | { readonly type: "output"; readonly output: unknown }
  | { readonly type: "refused"; readonly advice: Advice | null };

function isEnd({ isDone }: Step, output: unknown): boolean {
  return isDone?.(output as Readonly<Record<string, unknown>>) ?? true;
}

function isStepDone(step: Step, reply: Reply): boolean {
  if (reply.type === "output") return isEnd(step, reply.output);
  if (reply.type === "refused") return false;
  return reply.outcome.status === "succeeded" && isEnd(step, reply.outcome.output);
}

function hasFailed(reply: Reply): boolean {
  return reply.type === "ran" && reply.outcome.status !== "succeeded";
}

class Work {
  readonly #agent: Agent;
  readonly #guard: Guard;
  readonly #world: World;
  readonly #counts = { proposed: 0, run: 0, asked: 0, refusals: 0, followed: 0 };
  #turn = 1;
  #callsInTurn = 0;

  constructor(agent: Agent, guard: Guard, world: World) {
    this.#agent = agent;
    this.#guard = guard;
    this.#world = world;
  }

  counts() {
    return { ...this.#counts };
  }

  beginTurn(): void {
    this.#turn += 1;
    if (this.#turn > TURNS_MAX) throw new AbandonedError("too many turns");
    this.#callsInTurn = 0;
    this.#world.nowMs += PERSON_MS;
    this.#guard.newTurn();
  }

  /** Tries until the step is done. */
  async doStep(step: Step): Promise<void> {
    const before = step.effect === undefined ? 0 : this.#world.count(step.effect);
    const progress = { before, refusals: 0, words: 0 };
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const words = this.#agent.rewords ? progress.words % step.calls.length : 0;
      const reply = await this.#call(step.calls[words] ?? step.calls[0]);
      if (isStepDone(step, reply) || (await this.#goOn(step, reply, progress))) return;
    }
    throw new AbandonedError("too many tries");
  }

  /** Reacts to a reply that did not end the step. Returns whether the step is done. */
  async #goOn(
    step: Step,
    reply: Reply,
    progress: { readonly before: number; refusals: number; words: number },
  ): Promise<boolean> {
    if (reply.type !== "refused") {
      this.#world.nowMs += this.#agent.pauseMs;
      if (hasFailed(reply)) progress.words += 1;
      return false;
    }
    progress.refusals += 1;
    if (progress.refusals > this.#agent.defies) {
      return this.#follow(reply.advice, step, progress.before);
    }
    progress.words += 1;
    return false;
  }

  /** Does what a refusal asks for. Returns whether the step is done. */
  async #follow(advice: Advice | null, step: Step, before: number): Promise<boolean> {
    const move = moveOf(advice);
    switch (move?.type) {
      case "use":
        if (isEnd(step, move.output)) return true;
        this.#world.nowMs += PAUSE_WITHOUT_ADVICE_MS;
        return false;
      case "done":
        return true;
      case "wait":
        this.#world.nowMs += move.ms;
        return false;
      default:
        return this.#ask(advice, step, before);
    }
  }

  /** A person looks at what really happened, and says so. */
  async #ask(advice: Advice | null, step: Step, before: number): Promise<boolean> {
    this.#counts.asked += 1;
    const { effect } = step;
    const tookEffect = effect !== undefined && this.#world.count(effect) > before;
    if (advice?.approvalId != null) {
      this.#world.nowMs += PERSON_MS;
      return false;
    }
    this.beginTurn();
    await this.#guard.askPerson(advice, tookEffect);
    return tookEffect;
  }

  /** Makes needless calls until they are refused often enough, or it loses interest. */
  async giveIn({ exact, reworded }: Temptation): Promise<void> {
    const calls = this.#agent.rewords ? reworded : exact;
    let refusals = 0;
    for (const call of calls.slice(0, this.#agent.needlessCalls)) {
      let reply = await this.#call(call);
      while (reply.type === "refused") {
        refusals += 1;
        if (refusals >= this.#agent.refusalsTaken) return;
        if (this.#agent.rewords) break;
        reply = await this.#call(call);
      }
    }
  }

  async #call(call: ToolCall): Promise<Reply> {
    if (this.#counts.proposed >= PROPOSALS_MAX) throw new AbandonedError("too many calls");
    if (this.#callsInTurn >= TURN_CALLS_MAX) {
      this.#counts.asked += 1;
      this.beginTurn();
    }
    this.#callsInTurn += 1;
    this.#counts.proposed += 1;
    this.#world.nowMs += THINKING_MS;
    const answer = await this.#guard.propose(call, this.#turn);
    if (answer.type === "answered") return { type: "output", output: answer.output };
    if (answer.type === "refused") {
      this.#counts.refusals += 1;
      if (moveOf(answer.advice) !== null) this.#counts.followed += 1;
      if (answer.endsTurn) {
        this.#counts.asked += 1;
        this.beginTurn();
      }
      return { type: "refused", advice: answer.advice };
    }
    this.#counts.run += 1;
    const outcome = this.#world.run(call);
    await this.#guard.report(answer.id, call, outcome);
    return { type: "ran", outcome };
  }
}
