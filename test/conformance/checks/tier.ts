import type { CheckExamples, TellGate } from "../../support/gate-story/check-examples.ts";
import { outcomeOf } from "../../support/gate-story/gate-story.ts";

const MINUTE_MS = 60_000;

const TIERS = {
  authorization: {
    tiers: [
      { name: "never", pattern: "drop_*", action: "deny" },
      { name: "ask", pattern: "delete_*", action: "hitl", expires_ms: MINUTE_MS },
      { name: "few", pattern: "create_*", action: "per_conversation_grant", ceiling: 1 },
      { name: "slow", pattern: "get_*", action: "allowlist", rate_limit: "1/min" },
    ],
  },
};

async function second(tell: TellGate, policy: object, tool: string): Promise<string> {
  const story = await tell(policy);
  await story.done(tool, { n: 1 });
  return story.outcome(tool, { n: 2 });
}

/** The rows of the keys of tiers are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    tier_denied: async (tell) => (await tell(TIERS)).outcome("drop_table"),
    rate_limited: (tell) => second(tell, TIERS, "get_order"),
    grant_exceeded: (tell) => second(tell, TIERS, "create_order"),
    approval_required: async (tell) => {
      const { refusal } = await (await tell(TIERS)).propose("delete_order");
      return refusal?.reason ?? "none";
    },
    approval_denied: async (tell) => {
      const story = await tell(TIERS);
      const { approvalId = "" } = await story.propose("delete_order");
      return outcomeOf(await story.gate.deny(approvalId, { by: "ann" }));
    },
    approval_expired: async (tell) => {
      const story = await tell(TIERS);
      const held = await story.propose("delete_order");
      story.after(MINUTE_MS);
      return outcomeOf(await story.approve(held));
    },
  },
  keys: [],
};
