import { describe, expect, it } from "vitest";
import { type DecisionRow, rowsOf } from "../../../services/analytics/decision-row.ts";
import type { Decision } from "../../../services/core/decision.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import type { GateInput, VerdictInput } from "../../../services/core/inputs.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";

const WHO = { tenantId: "t", conversationId: "c" };
function decided(approvedBy: string[]): Decision {
  return {
    ...{ ...WHO, decisionId: "d" },
    call: { callId: "1", agentId: "a", turn: null, step: null, tool: "pay" },
    arguments: { text: "{}", digest: "", actionKey: "k", sealed: [] },
    policy: { revision: "p", tier: "care", tierRule: "tiers.care", isRead: false },
    notices: { warnings: [], shadow: [] },
    times: { atMs: 1_000, proposalsAtMs: 1_000 },
    conversation: {
      ...{ fresh: false, dropAtMs: 0, entersTurn: true, confirmation: null, evicted: null },
    },
    approval: { approvalId: "h", approvedBy },
  };
}

function refused(reason: string, approvedBy: string[]): GateEvent {
  const refusal = { reason, rule: "gate", level: 0 };
  return { ...decided(approvedBy), type: "refused", refusal } as unknown as GateEvent;
}

function allowed(approvedBy: string[]): GateEvent {
  const execution = { decisionId: "d", openedAtMs: 1_000, attempt: 1 };
  const facts = { grant: null };
  return {
    ...decided(approvedBy),
    type: "allowed",
    execution: execution,
    facts,
  } as unknown as GateEvent;
}

function verdict(kind: VerdictInput["kind"], by: string, reason: string | null): VerdictInput {
  return {
    ...{ ...WHO, type: "verdict", kind, approvalId: "h", decisionId: null, outcome: null },
    ...{
      tier: null,
      tool: null,
      ruleDigest: null,
      scope: null,
      calls: null,
      untilMs: null,
      by,
      reason,
    },
  };
}

/** The row of an event caused by an input: appended at 60 s, journaled at 60.25 s. */
function rowOf(input: GateInput, event: GateEvent): DecisionRow {
  const topic = input.type === "verdict" ? "verdicts" : "proposals";
  const at = { topic, partition: 0, offset: 5, appendTimeMs: 60_000 } as const;
  const clocks = { proposals: 60_000, results: 60_000, verdicts: 60_000 };
  const record: JournalRecord = {
    ...{ seq: 1, prevHash: "", next: clocks, clocks },
    input: { type: "decided", at, input },
    ...{ previousAtMs: 0, policyRevision: "p", events: [event], stateHash: null, anchor: null },
  };
  const [row] = rowsOf(0, { offset: 5, appendTimeMs: 60_250, record });
  if (row === undefined) throw new Error("there is no row");
  return row;
}

describe("rowsOf", () => {
  it("names who denied or cancelled a call, and not as its approver", () => {
    const deny = rowOf(verdict("deny", "ben", "no"), refused("approval_denied", ["ben"]));
    const cancel = rowOf(verdict("cancel", "cy", null), refused("approval_denied", ["cy"]));

    const said = { verdict: "deny", verdict_by: "ben", verdict_reason: "no" };
    expect(deny).toMatchObject({ kind: "refused", approved_by: null, ...said });
    expect(cancel).toMatchObject({ approved_by: null, verdict: "cancel", verdict_by: "cy" });
  });

  it("names who approved a call, with the words of the last approver", () => {
    const row = rowOf(verdict("approve", "ben", "ticket 77"), allowed(["ann", "ben"]));
    const said = { verdict: "approve", verdict_by: "ben", verdict_reason: "ticket 77" };
    expect(row).toMatchObject({ kind: "allowed", approved_by: "ann,ben", ...said });

    const later = rowOf(verdict("approve", "ben", null), refused("duplicate_call", ["ben"]));
    expect(later).toMatchObject({ approved_by: "ben", verdict: "approve" });
  });

  it("has no arguments of a call whose arguments could not be read", () => {
    const unread = { text: "", digest: "d", actionKey: "", sealed: [] };
    const event = { ...refused("too_large", []), arguments: unread } as GateEvent;
    const row = rowOf(verdict("deny", "ben", "no"), event);
    expect(row).toMatchObject({ arguments: null, action_key: null });
  });

  it("says who granted how many calls of which tool, until when and why", () => {
    const ruled: GateEvent = {
      ...{ ...WHO, atMs: 59_000, approvalId: null },
      type: "ruled",
      kind: "grant",
      ...{ decisionId: null, tier: "care", tool: null, ruleDigest: null, scope: null },
      ...{ calls: 3, untilMs: 90_000 },
      ...{ by: "ann", reason: "these three" },
    };
    expect(rowOf(verdict("grant", "ann", "these three"), ruled)).toMatchObject({
      ...{ kind: "ruled", detail: "grant", tier: "care", at_ms: 59_000 },
      ...{ verdict: "grant", verdict_by: "ann", verdict_reason: "these three" },
      ...{ grant_calls: 3, grant_until_ms: 90_000 },
    });
    const first = { ...ruled, kind: "approve", approvalId: "h", decisionId: "d", calls: null };
    const row = rowOf(verdict("approve", "ann", "fine"), { ...first, untilMs: null } as GateEvent);
    expect(row).toMatchObject({ detail: "approve", approval_id: "h", decision_id: "d" });
    expect(row).toMatchObject({ verdict: "approve", verdict_by: "ann", grant_calls: null });
  });

  it("names who gave a verdict that changed nothing", () => {
    const why = { type: "ignored", input: "approve", why: "reason_required", id: "h" } as const;
    const row = rowOf(verdict("approve", "ann", null), { ...WHO, ...why });
    expect(row).toMatchObject({ kind: "ignored", verdict: "approve", verdict_by: "ann" });
  });

  it("gives a repeated proposal the time of its own answer", () => {
    const proposal = { type: "proposal", ...WHO } as unknown as GateInput;
    const again = { type: "repeated", ...WHO, decisionId: "d", decision: allowed([]) };
    const row = rowOf(proposal, again as GateEvent);
    expect(row).toMatchObject({ kind: "repeated", decision_id: "d", at_ms: 60_000 });
    expect([row.latency_ms, row.verdict]).toEqual([250, null]);
    expect(rowOf(proposal, allowed([]))).toMatchObject({ at_ms: 1_000, latency_ms: 250 });
  });
});
