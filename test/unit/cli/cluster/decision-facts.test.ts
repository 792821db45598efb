import { describe, expect, it } from "vitest";
import { type CallResult, resultText } from "../../../../services/cli/cluster/decision-facts.ts";
import type { ResultRecorded } from "../../../../services/core/events.ts";

const call = { tenantId: "default", conversationId: "c", decisionId: "d", callId: "1", tool: "t" };
const recorded: ResultRecorded = {
  ...{ type: "result_recorded", ...call, atMs: 0, status: "failed", effect: "possible" },
  ...{ output: null, outputDigest: null, maskedDigest: null, outputBytes: 0, whole: true },
  ...{ error: { code: "E42", message: "no\nmoney", retryable: null }, transient: false },
  ...{ durationMs: 12, cost: null, evicted: null, effects: null },
};
const at = "at 1970-01-01T00:00:00.000Z";

describe("the result of a call", () => {
  it.each<readonly [CallResult | null, string]>([
    [null, "none in the journal yet"],
    [recorded, `failed and may have taken effect ${at}, after 12 ms: E42: no money`],
    [{ ...recorded, effect: "none" }, `failed ${at}, after 12 ms: E42: no money`],
    [
      { ...recorded, status: "succeeded", effect: null, error: null, durationMs: null },
      `succeeded ${at}`,
    ],
    [{ type: "outcome_unknown", ...call, atMs: 0 }, `unknown ${at}: no report came in time`],
    [
      { type: "reconciled", ...call, atMs: 0, outcome: "failed", by: "ann", reason: "looked" },
      `failed ${at}, reported by ann: looked`,
    ],
  ])("is shown with its time and cause (%#)", (result, text) => {
    expect(resultText(result)).toBe(text);
  });
});
