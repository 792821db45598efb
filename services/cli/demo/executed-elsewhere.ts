/** For an agent whose tools a remote executor runs: it proposes, and waits for the outcome. */

import type { Tools } from "../../client/api/guard-types.ts";
import { refusedOf } from "../../client/api/refused.ts";
import { readOutput } from "../../client/values/output-text.ts";
import type { Callgate, CallOptions, Decision, GuardContext } from "../../library/callgate.ts";
import { environmentError } from "../../process/exit-error.ts";

const RESULT_WITHIN_MS = 60_000;

/**
 * The same gate, whose `guard` proposes calls that a remote executor runs. The local tools are
 * called for each call that has run, only to update the demo's view of the world; their results are
 * dropped.
 */
export function executedElsewhere(gate: Callgate): Callgate {
  return {
    ...gate,
    guard: ((tools: Tools, context: GuardContext | (() => GuardContext)) => {
      const guarded = Object.keys(tools).map((tool) => {
        const run = (args: object = {}, options: CallOptions = {}): Promise<unknown> => {
          const guardContext = typeof context === "function" ? context() : context;
          return callElsewhere(gate, tools, {
            tool,
            args,
            context: { ...guardContext, ...options },
          });
        };
        return [tool, run] as const;
      });
      return Object.fromEntries(guarded);
    }) as Callgate["guard"],
  };
}

type Call = {
  readonly tool: string;
  readonly args: object;
  readonly context: GuardContext & CallOptions;
};

async function callElsewhere(gate: Callgate, tools: Tools, call: Call): Promise<unknown> {
  const { tool, args, context } = call;
  const { signal: _signal, onHeld: _onHeld, ...fields } = context;
  const decision = await gate.propose({ ...fields, tool, arguments: args });
  if (decision.outcome !== "allowed") return refusal(decision);
  const { status, output } = await gate.awaitResult(decision.decisionId, {
    timeoutMs: RESULT_WITHIN_MS,
  });
  if (status !== "succeeded" && status !== "failed") {
    throw environmentError(`\`${tool}\` was allowed, and the executor reports \`${status}\``);
  }
  // Throws as the remote tool did.
  Reflect.apply(tools[tool] as (...input: readonly unknown[]) => unknown, tools, [args]);
  if (status === "succeeded") return output;
  throw environmentError(`\`${tool}\` failed at the executor, and should not have`);
}

/** A read that was answered from memory returns the earlier output. */
function refusal(decision: Decision): unknown {
  const { refusal: why, isRead, tool } = decision;
  if (why === undefined || why.reason === "gate_unavailable") {
    const problem = why?.problem ?? "no answer";
    throw environmentError(`the gate does not decide \`${tool}\`: ${problem}: is it running?`);
  }
  const earlier = why.previousResult?.inline ?? null;
  if (isRead && why.reason === "duplicate_call" && earlier !== null) return readOutput(earlier);
  return refusedOf(decision, why);
}
