/**
 * All names that OpenTelemetry gets from us. `gen_ai.*` are the semantic conventions for tool calls
 * of agents, which are in development: when their names for guardrails are settled, they replace
 * ours here.
 */
export const SCOPE = "callgate";

export const SPAN = "callgate.decide";

export const METRICS = {
  /** Counter: proposals by their decision. */
  decisions: "callgate.decisions",
  /** Histogram, seconds: from the proposal to its decision. */
  duration: "callgate.decide.duration",
} as const;

export const ATTRIBUTES = {
  tool: "gen_ai.tool.name",
  callId: "gen_ai.tool.call.id",
  conversationId: "gen_ai.conversation.id",
  agentId: "gen_ai.agent.id",
  /** What the policy says: `allowed`, `refused` or `held`. */
  outcome: "callgate.outcome",
  /** What applies: `allowed` where a check in mode `shadow` would have refused or held the call. */
  effective: "callgate.effective",
  /** Of a refused or held call. */
  reason: "callgate.reason",
  rule: "callgate.rule",
  policyRevision: "callgate.policy_revision",
  /** Code of the error where there is no decision. */
  error: "error.type",
} as const;
