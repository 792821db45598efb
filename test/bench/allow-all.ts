/** Replaces `decide`: allows every proposal without a check and remembers one call of each conversation. */
import type { GateEvent } from "../../services/core/events.ts";
import { decisionIdOf } from "../../services/core/hash.ts";
import type { GateInput } from "../../services/core/inputs.ts";
import type { CompiledPolicy } from "../../services/core/policy/compiled.ts";
import type { ConversationState } from "../../services/core/state/state.ts";

const POLICY = `sha256:${"0".repeat(64)}`;
const MINUTE_MS = 60_000;

/** Leaves the arguments unchanged. */
export function decide(
  _state: ConversationState | undefined,
  input: GateInput,
  { keyId }: CompiledPolicy,
  nowMs: number,
): readonly GateEvent[] {
  if (input.type !== "proposal") return [];
  const { tenantId, conversationId, callId, agentId, turn, step, tool } = input;
  const text = typeof input.arguments === "string" ? input.arguments : "{}";
  // The only digest that the pipeline needs: it identifies the decision.
  const decisionId = decisionIdOf({ tenantId, conversationId, turn, step, callId }, tool, text);
  return [
    {
      type: "allowed",
      ...{ decisionId, tenantId, conversationId },
      call: { callId, agentId, turn, step, tool },
      arguments: { text, digest: decisionId, actionKey: decisionId, sealed: [] },
      policy: { revision: POLICY, tier: null, tierRule: null, isRead: true },
      notices: { warnings: [], shadow: [] },
      times: { atMs: nowMs, proposalsAtMs: nowMs },
      conversation: {
        // Starts a new state, without the earlier calls.
        fresh: true,
        dropAtMs: nowMs + MINUTE_MS,
        entersTurn: false,
        confirmation: null,
        evicted: null,
      },
      approval: { approvalId: null, approvedBy: [] },
      keyId,
      execution: { decisionId, openedAtMs: nowMs, attempt: 1 },
      notAfterMs: nowMs + MINUTE_MS,
      timeLimitMs: MINUTE_MS,
      idempotencyArgument: null,
      facts: {
        priorKey: decisionId,
        resources: [],
        exclusive: [],
        windowUntilMs: nowMs,
        dropAtMs: nowMs,
        recentCallsMax: 1,
        repeats: 0,
        rates: [],
        grant: null,
        more: null,
      },
    },
  ];
}
