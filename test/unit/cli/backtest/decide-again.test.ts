import { describe, expect, it } from "vitest";
import { DecideAgain } from "../../../../services/cli/backtest/decide-again.ts";
import { decide } from "../../../../services/core/decide/decide.ts";
import type { GateEvent } from "../../../../services/core/events.ts";
import type { GateInput, VerdictInput } from "../../../../services/core/inputs.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { sealProposal, withoutClear } from "../../../../services/core/seal/seal-arguments.ts";
import { GENESIS_HASH, type JournalRecord } from "../../../../services/runtime/journal.ts";
import { compiled, sealingOf } from "../../../support/core/compile.ts";
import { ofType, startStory } from "../../../support/decider-spec.ts";

const NOW_MS = 1_000;
const CLOCKS = { proposals: NOW_MS, results: NOW_MS, verdicts: NOW_MS };

function recordOf(seq: number, input: GateInput, events: readonly GateEvent[]): JournalRecord {
  const topic = input.type === "verdict" ? "verdicts" : "proposals";
  const at = { topic, partition: 0, offset: seq, appendTimeMs: NOW_MS } as const;
  return {
    seq,
    prevHash: GENESIS_HASH,
    input: { type: "decided", at, input },
    next: { proposals: 0, results: 0, verdicts: 0 },
    clocks: CLOCKS,
    previousAtMs: 0,
    policyRevision: "sha256:test",
    events,
    stateHash: null,
    anchor: null,
  };
}

describe("a verdict that states what was reviewed", () => {
  const policyOf = (expires_ms: number): PolicyDocument => ({
    authorization: { tiers: [{ name: "big", pattern: "refund", action: "hitl", expires_ms }] },
  });
  const story = startStory(policyOf(60_000));
  const proposal = story.proposal("refund", { sum: 5 });
  const held = ofType(story.when(proposal)[0] as GateEvent, "held");
  const {
    holdId,
    decisionId,
    call: { callId },
    arguments: { actionKey },
    ruleDigest,
  } = held;
  const approval: VerdictInput = {
    type: "verdict",
    kind: "approve",
    tenantId: "acme",
    conversationId: "c",
    approvalId: holdId,
    decisionId: null,
    outcome: null,
    tier: null,
    tool: null,
    calls: null,
    untilMs: null,
    by: "boss",
    reason: null,
    about: { callId, actionKey, ruleDigest },
  };

  function again(verdict: VerdictInput, events: readonly GateEvent[]): readonly GateEvent[] {
    const candidate = new DecideAgain(compiled(policyOf(50_000)));
    const [other] = candidate.decide(recordOf(1, proposal, [held]), new Map());
    expect(ofType(other as GateEvent, "held").ruleDigest).not.toBe(ruleDigest);
    return candidate.decide(recordOf(2, verdict, events), new Map([[holdId, decisionId]]));
  }

  it("answers the hold of the same call under another rule", () => {
    expect(again(approval, story.when(approval))).toMatchObject([{ type: "allowed" }]);
  });

  it.each([
    ["wrong_rule", { callId, actionKey, ruleDigest: GENESIS_HASH }],
    ["wrong_action", { callId, actionKey: GENESIS_HASH, ruleDigest: null }],
  ])("stays ignored if it answered another hold: %s", (why, about) => {
    const verdict = { ...approval, about };
    const recorded = startStory(policyOf(60_000));
    recorded.when(proposal);
    const events = recorded.when(verdict);
    expect(events).toMatchObject([{ type: "ignored", why }]);
    expect(again(verdict, events)).toMatchObject([{ type: "ignored", why }]);
  });
});

it("refuses sensitive arguments that could not be parsed as it did originally", () => {
  const document = { tool_schemas: { pay: { sensitive: ["card"] } } };
  const policy = compiled(document);
  const proposal = startStory(document).proposal("pay", '{"card":"4111",}');
  const sealed = sealProposal(undefined, proposal, policy);
  const events = decide(undefined, sealed, policy, NOW_MS);
  const candidate = new DecideAgain(compiled(document, undefined, sealingOf("other")));
  expect(candidate.decide(recordOf(1, withoutClear(sealed), events), new Map())).toEqual(events);
});
