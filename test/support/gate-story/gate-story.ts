// Plays one conversation through the library, as a program would, with a clock that the story sets and with
// restarts. `decider-spec.ts` does the same for the core.

import type {
  Decision,
  OpenOptions,
  ProposedCall,
  Verdict,
} from "../../../services/client/api/gate-types.ts";
import type { CallReport } from "../../../services/client/inputs/report.ts";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";

const START_MS = Date.UTC(2026, 0, 5, 9);

/** A story sets the clock of its whole process, so stories of one process run one after another. */
const realNow = Date.now;

export interface StoryOptions {
  /** A policy document, or the path of a policy file. */
  readonly policy: string | object;
  /** A directory that survives restarts; absent: memory, which does not. */
  readonly dataDir?: string;
  readonly normalizers?: OpenOptions["normalizers"];
}

type Opening = Pick<StoryOptions, "policy" | "normalizers"> & { readonly dataDir?: string | false };

export type Arguments = object | string;

export class GateStory {
  #gate: Callgate;
  #policy: string | object;
  readonly #dataDir: string | false;
  readonly #normalizers: StoryOptions["normalizers"];
  #nowMs = START_MS;
  #turn: string | number | undefined = 1;
  #calls = 0;

  private constructor(gate: Callgate, { policy, dataDir, normalizers }: StoryOptions) {
    this.#gate = gate;
    this.#policy = policy;
    this.#dataDir = dataDir ?? false;
    this.#normalizers = normalizers;
  }

  static async open(options: StoryOptions): Promise<GateStory> {
    Date.now = () => START_MS;
    try {
      return new GateStory(await open(options), options);
    } catch (error) {
      Date.now = realNow;
      throw error;
    }
  }

  get gate(): Callgate {
    return this.#gate;
  }

  after(ms: number): void {
    this.#nowMs += ms;
    Date.now = () => this.#nowMs;
  }

  /** Begins a turn; undefined: the platform sends no turns. */
  turn(name: string | number | undefined): void {
    this.#turn = name;
  }

  /** Ends the gate and opens another on the same directory, with another policy if given. */
  async restart(policy: string | object = this.#policy): Promise<void> {
    if (this.#dataDir === false) throw new Error("a gate on memory has nothing to go on with");
    await this.#gate.close();
    this.#policy = policy;
    this.#gate = await open({ policy, dataDir: this.#dataDir, normalizers: this.#normalizers });
  }

  /** Makes a call with its own id and step, a millisecond after the one before. */
  propose(tool: string, args: Arguments = {}, overrides: Partial<ProposedCall> = {}) {
    this.#calls += 1;
    this.after(1);
    return this.#gate.propose({
      conversationId: "c",
      turn: this.#turn,
      step: this.#calls,
      callId: `call-${this.#calls}`,
      tool,
      arguments: args,
      ...overrides,
    });
  }

  async report(decision: Decision, report: CallReport): Promise<void> {
    this.after(1);
    const outcome = await this.#gate.report(decision.decisionId ?? "", report);
    if (!outcome.recorded) throw new Error(`the report was not taken: ${outcome.why}`);
  }

  /** Proposes a call, and reports the output if it is allowed. */
  async done(
    tool: string,
    args: Arguments = {},
    output: unknown = "fine",
    overrides: Partial<ProposedCall> = {},
  ): Promise<Decision> {
    const decision = await this.propose(tool, args, overrides);
    if (decision.outcome === "allowed") {
      await this.report(decision, { status: "succeeded", output });
    }
    return decision;
  }

  async failed(tool: string, args: Arguments, message: string, code?: string): Promise<Decision> {
    const decision = await this.propose(tool, args);
    const error = code === undefined ? { message } : { message, code };
    if (decision.outcome === "allowed") await this.report(decision, { status: "failed", error });
    return decision;
  }

  /** The reason why a call does not run, or that it runs. */
  async outcome(
    tool: string,
    args: Arguments = {},
    overrides: Partial<ProposedCall> = {},
  ): Promise<string> {
    return outcomeOf(await this.propose(tool, args, overrides));
  }

  approve(held: Decision, verdict: Partial<Verdict> = {}): Promise<Decision> {
    return this.#gate.approve(held.approvalId ?? "", { by: "ann", ...verdict });
  }

  async close(): Promise<void> {
    try {
      await this.#gate.close();
    } finally {
      Date.now = realNow;
    }
  }
}

function open({ policy, dataDir = false, normalizers }: Opening): Promise<Callgate> {
  const secret = "a secret of the tests, 32 bytes and more";
  return openCallgate({ policy, dataDir, secret, normalizers });
}

/** `allowed`, `held`, or the reason of the refusal. */
export function outcomeOf({ outcome, refusal }: Decision): string {
  return outcome === "refused" ? (refusal?.reason ?? "refused") : outcome;
}
