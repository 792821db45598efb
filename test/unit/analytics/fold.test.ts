import { describe, expect, it } from "vitest";
import { ANALYTICS_OPTIONS } from "../../../services/analytics/analytics.ts";
import { DecisionFold } from "../../../services/analytics/fold.ts";
import { decisionRow as row } from "../../support/decision-row.ts";

const { fold: options } = ANALYTICS_OPTIONS;

describe("DecisionFold", () => {
  it("counts one step for calls that were issued together", () => {
    const fold = new DecisionFold(options);

    fold.apply(0, [row({}), row({}), row({ step: "2" })], 3);
    fold.rest(0, 3 * options.idleMs);

    const [steps] = fold.data().totals.conversation_steps ?? [];
    const [calls] = fold.data().totals.conversation_tool_calls ?? [];
    expect([steps?.value, calls?.value]).toEqual([2, 3]);
  });

  it("gives undeclared tool names one label, and names beyond the limit another", () => {
    const fold = new DecisionFold({ ...options, toolsMax: 1 });

    fold.apply(
      0,
      [
        row({ tool: "made_up", kind: "refused", reason: "unknown_tool" }),
        row({ tool: "first" }),
        row({ tool: "second" }),
      ],
      3,
    );

    const samples = fold.data().totals.analytics_decisions_total ?? [];
    expect(samples.map(({ labels }) => labels["tool"])).toEqual(["(unknown)", "first", "(other)"]);
  });

  it("gives no label of its own to a name that is refused before the policy is asked for it", () => {
    const fold = new DecisionFold({ ...options, toolsMax: 3 });
    const malformed = { kind: "refused", reason: "malformed" } as const;
    const madeUp = Array.from({ length: 9 }, (_, index) =>
      row({ ...malformed, tool: `made_up_${index}` }),
    );

    fold.apply(
      0,
      [
        ...madeUp,
        row({ kind: "repeated", tool: "made_up_1", reason: "malformed" }),
        row({ kind: "ruled", tool: "made_up_2" }),
        row({ tool: "allowed" }),
        row({ kind: "refused", reason: "tier_denied", tier: "never", tool: "denied" }),
        row({ kind: "held", tool: "held" }),
        row({ ...malformed, tool: "allowed" }),
      ],
      3,
    );

    const samples = fold.data().totals.analytics_decisions_total ?? [];
    expect(samples.map(({ labels, value }) => [labels["tool"], value])).toEqual([
      ["(unknown)", 9],
      ["allowed", 1],
      ["denied", 1],
      ["held", 1],
      ["allowed", 1],
    ]);
  });

  it("ends the longest idle conversation when there are too many", () => {
    const fold = new DecisionFold({ ...options, conversationsMax: 2 });

    for (const name of ["a", "b", "a", "c"]) {
      fold.apply(0, [row({ conversation_id: name })], 1);
    }

    const [partition] = fold.data().partitions;
    expect(partition?.conversations.map(({ conversationId }) => conversationId)).toEqual([
      "a",
      "c",
    ]);
  });

  it("starts a conversation afresh where the gate did", () => {
    const fold = new DecisionFold(options);

    fold.apply(0, [row({}), row({ fresh: true, at_ms: 2_000 })], 2);

    const [partition] = fold.data().partitions;
    expect(partition?.conversations).toMatchObject([{ calls: 1, firstAtMs: 2_000 }]);
    expect(fold.data().totals.conversation_tool_calls?.[0]?.value).toBe(1);
  });

  it("continues from saved data as if it had never stopped", () => {
    const rows = Array.from({ length: 200 }, (_, index) =>
      row({
        conversation_id: `c${index % 7}`,
        at_ms: index * 60_000 * (1 + (index % 5)),
        kind: index % 9 === 0 ? "result" : "allowed",
        decision_id: `${index}`,
        status: index % 18 === 0 ? "unknown" : "succeeded",
        cost_micro_units: index % 9 === 0 ? 1_000 : null,
        currency: index % 9 === 0 ? "EUR" : null,
      }),
    );
    const whole = new DecisionFold(options);
    for (const [index, one] of rows.entries()) whole.apply(0, [one], index + 1);
    let parts = new DecisionFold(options);
    for (const [index, one] of rows.entries()) {
      parts.apply(0, [one], index + 1);
      if (index % 13 === 0) {
        parts = new DecisionFold(options, JSON.parse(JSON.stringify(parts.data())));
      }
    }

    expect(parts.data()).toEqual(whole.data());
  });

  it("counts outcomes that the gate declares unknown and those that executors report as unknown", () => {
    const fold = new DecisionFold(options);

    fold.apply(
      0,
      [
        row({ kind: "unknown", tool: "pay" }),
        row({ kind: "result", tool: "pay", status: "unknown" }),
        row({ kind: "reconciled", tool: "pay", detail: "succeeded" }),
      ],
      3,
    );

    expect(fold.data().totals.call_results_total).toEqual([
      { labels: { status: "unknown", tool: "pay" }, value: 2 },
    ]);
  });

  it("counts a grant as used up where the call is refused and where it is held for a person", () => {
    const fold = new DecisionFold(options);
    const held = { kind: "held", reason: "approval_required" } as const;

    fold.apply(
      0,
      [
        row({ tier: "money", grant_tier: "money" }),
        row({ tier: "money", ...held }),
        row({ tier: "money", grant_tier: "money", approval_id: "1" }),
        row({ tier: "people", ...held }),
        row({ tier: "tight", kind: "refused", reason: "grant_exceeded" }),
      ],
      5,
    );

    expect(fold.data().totals.grants_exhausted_total).toEqual([
      { labels: { tier: "money" }, value: 1 },
      { labels: { tier: "tight" }, value: 1 },
    ]);
  });

  it("counts records that retention deleted", () => {
    const fold = new DecisionFold(options);

    fold.skip(0, 40);

    expect(fold.nextOffset(0)).toBe(40);
    expect(fold.data().totals.analytics_skipped_total?.[0]?.value).toBe(40);
  });
});
