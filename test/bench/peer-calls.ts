/**
 * The engine on the calls and the policy that its peers are measured with: eight tools allowed,
 * `charge_card` up to an amount, everything else refused. Each pass over the calls is of new
 * conversations, since the same call again would be a duplicate.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { decide } from "../../services/core/decide/decide.ts";
import type { GateEvent } from "../../services/core/events.ts";
import type { ProposalInput } from "../../services/core/inputs.ts";
import type { CompiledPolicy } from "../../services/core/policy/compiled.ts";
import { evolve } from "../../services/core/state/evolve.ts";
import type { ConversationState } from "../../services/core/state/state.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { benchPolicy, fed } from "./engine.ts";

export const PEER_CALLS_ROW = "Callgate decide + evolve, canonical form, digests and state";

const WARM_UP_PASSES = 5;
const TIMED_PASSES = 10;
const START_MS = 1_700_000_000_000;
const STEP_MS = 100;
const US_PER_MS = 1_000;

type PeerCall = {
  readonly call: {
    readonly tool: string;
    readonly conversationId: string;
    readonly callId: string;
    readonly agentId: string;
    readonly args: object;
  };
  readonly allowed: boolean;
};

type PeerModule = {
  readonly makeCalls: () => readonly PeerCall[];
  readonly TOOLS: readonly string[];
  readonly CHARGE_LIMIT: number;
};

const READS = ["search_docs", "read_file", "list_orders", "get_customer", "run_query"];

/** @throws Error where an answer is not the expected one. */
export async function benchPeerCalls(directory: string): Promise<readonly BenchRow[]> {
  const url = pathToFileURL(join(directory, "calls.mjs")).href;
  const { makeCalls, TOOLS, CHARGE_LIMIT } = (await import(url)) as PeerModule;
  const policy = benchPolicy(peerPolicy(TOOLS, CHARGE_LIMIT));
  const calls = makeCalls();
  const samples = new Float64Array(TIMED_PASSES * calls.length);
  for (let pass = 0; pass < WARM_UP_PASSES; pass += 1) {
    timePass(policy, calls, -1 - pass, samples.subarray(0, calls.length));
  }
  for (let pass = 0; pass < TIMED_PASSES; pass += 1) {
    const from = pass * calls.length;
    timePass(policy, calls, pass, samples.subarray(from, from + calls.length));
  }
  samples.sort();
  const p50 = percentile(samples, 0.5);
  return [{ name: PEER_CALLS_ROW, unit: "µs", p50, p99: percentile(samples, 0.99) }];
}

function peerPolicy(tools: readonly string[], chargeLimit: number): object {
  const amount = { type: "integer", maximum: chargeLimit };
  const entries = tools.map((tool) => [
    tool,
    {
      ...(READS.includes(tool) ? { read_only: true } : {}),
      ...(tool === "charge_card"
        ? { input_schema: { type: "object", properties: { amount }, required: ["amount"] } }
        : {}),
    },
  ]);
  return {
    preset: "balanced",
    tool_schemas: Object.fromEntries(entries),
    authorization: { tiers: [{ name: "deletions", pattern: "delete_file", action: "deny" }] },
  };
}

function timePass(
  policy: CompiledPolicy,
  calls: readonly PeerCall[],
  pass: number,
  samples: Float64Array,
): void {
  const states = new Map<string, ConversationState | undefined>();
  const inputs = proposalsOf(calls, pass);
  for (const [at, input] of inputs.entries()) {
    const nowMs = START_MS + at * STEP_MS;
    let state = states.get(input.conversationId);
    const start = performance.now();
    const events = decide(state, input, policy, nowMs);
    for (const event of events) state = evolve(state, event);
    samples[at] = (performance.now() - start) * US_PER_MS;
    const [event] = events;
    assertAnswer(event, calls[at]?.allowed === true);
    if (event?.type === "allowed") state = fed(state, policy, event, nowMs, null);
    states.set(input.conversationId, state);
  }
}

function assertAnswer(event: GateEvent | undefined, allowed: boolean): void {
  const right = allowed
    ? event?.type === "allowed"
    : event?.type === "refused" && REFUSALS.includes(event.refusal.reason);
  if (!right) throw new Error(`an answer is not the expected one: ${JSON.stringify(event)}`);
}

/** Refusals by the schema and by the tier. */
const REFUSALS = ["invalid_arguments", "tier_denied"];

/** Each refusal is followed by a new turn; otherwise the escalation would stop the conversation. */
function proposalsOf(calls: readonly PeerCall[], pass: number): readonly ProposalInput[] {
  const refusals = new Map<string, number>();
  return calls.map((one, at) => {
    const { conversationId } = one.call;
    const turn = refusals.get(conversationId) ?? 0;
    if (!one.allowed) refusals.set(conversationId, turn + 1);
    return proposalOf(one, pass, String(turn), String(at));
  });
}

function proposalOf({ call }: PeerCall, pass: number, turn: string, step: string): ProposalInput {
  return {
    type: "proposal",
    tenantId: "default",
    conversationId: `${call.conversationId}-${pass}`,
    callId: call.callId,
    agentId: call.agentId,
    turn,
    step,
    tool: call.tool,
    arguments: JSON.stringify(call.args),
    assistantText: null,
    estimatedCost: null,
    confirmation: null,
    rejected: null,
  };
}
