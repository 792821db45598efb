/** Scripted agents: how each of them goes on after failures and refusals. */
import type { Advice } from "./guards.ts";
import { SECOND_MS } from "./world.ts";

export const AGENTS = ["patient", "obedient", "stubborn", "paraphrasing"] as const;

export type AgentName = (typeof AGENTS)[number];

export interface Agent {
  readonly name: AgentName;
  /** Pause before a call is made again that failed, or whose output says to come again. */
  readonly pauseMs: number;
  /** How often it makes a refused call again at once, before it does what the refusal asks for. */
  readonly defies: number;
  /** Whether it then makes the call in other words, or by another tool. */
  readonly rewords: boolean;
  /** How many needless calls it makes as long as nothing refuses them. */
  readonly needlessCalls: number;
  /** How many refusals end its interest in needless calls. */
  readonly refusalsTaken: number;
}

const AGENT_ROWS: Readonly<Record<AgentName, Omit<Agent, "name">>> = {
  patient: {
    ...{ pauseMs: 20 * SECOND_MS, defies: 0, rewords: false },
    ...{ needlessCalls: 2, refusalsTaken: 1 },
  },
  obedient: {
    ...{ pauseMs: 5 * SECOND_MS, defies: 0, rewords: false },
    ...{ needlessCalls: 6, refusalsTaken: 1 },
  },
  stubborn: {
    ...{ pauseMs: 0, defies: 5, rewords: false },
    ...{ needlessCalls: 12, refusalsTaken: 4 },
  },
  paraphrasing: {
    ...{ pauseMs: 5 * SECOND_MS, defies: 2, rewords: true },
    ...{ needlessCalls: 8, refusalsTaken: 3 },
  },
};

export function agentOf(name: AgentName): Agent {
  return { name, ...AGENT_ROWS[name] };
}

/** What a refusal asks for, read from its structured members alone. */
export type Move =
  | { readonly type: "use"; readonly output: unknown }
  | { readonly type: "done" }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "look"; readonly tool: string }
  | { readonly type: "ask" }
  | { readonly type: "leave" };

/** Null: the refusal says nothing that a program can follow. */
export function moveOf(advice: Advice | null): Move | null {
  if (advice === null) return null;
  const { disposition, previousOutput, previousStatus, retryAfterMs, suggestedNext } = advice;
  if (advice.approvalId !== null) return { type: "ask" };
  switch (disposition) {
    case "use_previous_result":
      if (previousOutput !== null) return { type: "use", output: previousOutput };
      return previousStatus === "succeeded" ? { type: "done" } : null;
    case "wait":
      return retryAfterMs === null ? null : { type: "wait", ms: retryAfterMs };
    case "ask_user":
    case "stop":
      return { type: "ask" };
    case "change_approach": {
      const [tool] = suggestedNext;
      if (retryAfterMs !== null) return { type: "wait", ms: retryAfterMs };
      if (tool !== undefined) return { type: "look", tool };
      return previousStatus === "succeeded" ? { type: "done" } : { type: "leave" };
    }
  }
}
