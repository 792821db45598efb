import { expect, it } from "vitest";
import { whyNotRuled } from "../../../../services/client/inputs/ruling.ts";
import type { GateEvent, InputIgnored, VerdictRuled } from "../../../../services/core/events.ts";

const name = { tenantId: "default", conversationId: "c" };
const said = { by: "ann", reason: null, atMs: 1, approvalId: null, decisionId: null };
const terms = { tier: null, tool: null, ruleDigest: null, scope: null, calls: null, untilMs: null };
const ruled: VerdictRuled = { type: "ruled", kind: "end", ...name, ...said, ...terms };
const ignored: InputIgnored = {
  ...{ type: "ignored", ...name, input: "end", why: "unknown_conversation", id: null },
};

it.each<readonly [string, readonly GateEvent[], string | undefined]>([
  ["is done where the gate ruled so", [ruled], undefined],
  ["was ignored, with the gate's reason", [ignored], "unknown_conversation"],
  ["was no verdict where nothing came of it", [], "dead_letter"],
])("reports whether a verdict took effect: %s", (_title, events, why) => {
  expect(whyNotRuled(events)).toBe(why);
});
