/** One journaled decision and the facts behind it: what `callgate explain` prints. */
import {
  type CallResult,
  earlierVerdict,
  isCallResult,
  isGrantFor,
  ruleOfDecision,
  type SaidVerdict,
  verdictsOn,
} from "../../client/journal/decision-facts.ts";
import { isDecision, type JournaledCall } from "../../client/journal/recent-calls.ts";
import { type JournalPosition, searchPartition } from "../../client/journal/search-journal.ts";
import type { Notice } from "../../core/decision.ts";
import type { DecisionEvent, GateEvent, Refusal, VerdictRuled } from "../../core/events.ts";
import { REASONS } from "../../core/reasons/reasons.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { type ShownDecision, shownDecision } from "../events/shown-event.ts";
import type { ServedGate } from "../served-gate.ts";
import { locateRule } from "./locate-rule.ts";

export type ExplainedVerdict = {
  readonly kind: string;
  readonly by: string;
  readonly reason: string | null;
  readonly at: number;
};

export type ExplainedDecision = {
  readonly decision: ShownDecision;
  readonly position: { readonly partition: number; readonly offset: number; readonly seq: number };
  /** That led to it, the oldest first. */
  readonly verdicts: readonly ExplainedVerdict[];
  readonly tier: string | null;
  /** The rule that puts the tool in its tier. */
  readonly tierRule: string | null;
  /** What would have been refused if it were enforced. */
  readonly shadow: readonly Notice[];
  /** Null: no rule was against the call. */
  readonly rule: string | null;
  /** `file:line:column`, `preset`, or `always`; null: the server does not have the policy. */
  readonly location: string | null;
  /** Whether the policy of `location` is the one that decided. */
  readonly isPolicyOfDecision: boolean;
  /** Of a refusal. */
  readonly refusal: ExplainedRefusal | null;
  /** Of an allowed call: the n-th execution of the same action. */
  readonly attempt: number | null;
};

export type ExplainedRefusal = Pick<
  Refusal,
  "previousCall" | "conflict" | "problems" | "resolution" | "disposition" | "level" | "count"
> & {
  /** Why calls are refused for this reason, and what an operator or agent can do. */
  readonly cause: string;
  readonly remedy: string;
};

export type ExplainedGrant = {
  /** Null: the policy granted it. */
  readonly by: string | null;
  readonly tier: string | null;
  readonly tool: string | null;
  readonly reason: string | null;
  readonly at: number | null;
  readonly until: number | null;
};

export type ExplainedResult = Pick<CallResult, "type"> & {
  readonly status: string;
  readonly at: number;
  readonly effect: string | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  readonly durationMs: number | null;
  readonly by: string | null;
  readonly reason: string | null;
};

export type Explanation = {
  readonly decisionId: string;
  /** The oldest first: a call that waited has several. */
  readonly decisions: readonly ExplainedDecision[];
  /** Of an allowed call that used a grant. */
  readonly grantedBy: ExplainedGrant | null;
  /** The latest; null: none in the journal. */
  readonly result: ExplainedResult | null;
};

/** Null: retention has deleted the decision. @throws CallgateError, Problem */
export async function explainDecision(
  served: ServedGate,
  { decisionId, position }: JournaledCall,
): Promise<Explanation | null> {
  const trail = new DecisionTrail(decisionId);
  const { client, link } = served;
  await client.timeFor(decisionId).search((isOver) => {
    const assertWanted = (): void => {
      if (isOver()) throw new Error("nobody waits for the search any more");
    };
    const all = { partition: position.partition, offset: 0 };
    return searchPartition(link, all, { find: trail.find, assertWanted });
  });
  if (trail.decisions.length === 0) return null;
  const decisions: ExplainedDecision[] = [];
  for (const found of trail.decisions) decisions.push(await explained(served, found, trail.said));
  return { decisionId, decisions, grantedBy: trail.grant, result: trail.result };
}

type JournaledDecision = {
  readonly event: DecisionEvent;
  readonly record: JournalRecord;
  readonly position: JournalPosition;
};

async function explained(
  served: ServedGate,
  { event, record, position }: JournaledDecision,
  said: readonly VerdictRuled[],
): Promise<ExplainedDecision> {
  const earlier = said
    .filter(({ approvalId }) => approvalId === event.approval.approvalId)
    .map(earlierVerdict);
  const { tier, tierRule, revision } = event.policy;
  const rule = ruleOfDecision(event);
  const { location, policyRevision } = await locateRule(served, rule);
  return {
    decision: shownDecision(event),
    position: { ...position, seq: record.seq },
    verdicts: verdictsOn(event, record, earlier).map(shownVerdict),
    ...{ tier, tierRule, shadow: event.notices.shadow, rule, location },
    isPolicyOfDecision: policyRevision === revision,
    refusal: event.type === "refused" ? explainedRefusal(event.refusal) : null,
    attempt: event.type === "allowed" ? event.execution.attempt : null,
  };
}

function shownVerdict({ kind, by, reason, atMs: at }: SaidVerdict): ExplainedVerdict {
  return { kind, by, reason, at };
}

function explainedRefusal(refusal: Refusal): ExplainedRefusal {
  const { previousCall, conflict, problems, resolution, disposition, level, count } = refusal;
  const { cause, remedy } = REASONS[refusal.reason];
  return { cause, remedy, previousCall, conflict, problems, resolution, disposition, level, count };
}

/** Collects what the journal says about a decision, the newest first. */
class DecisionTrail {
  readonly #decisionId: string;
  /** The oldest first. */
  readonly decisions: JournaledDecision[] = [];
  /** Approvals that did not decide yet, the oldest first. */
  readonly said: VerdictRuled[] = [];
  result: ExplainedResult | null = null;
  grant: ExplainedGrant | null = null;

  constructor(decisionId: string) {
    this.#decisionId = decisionId;
  }

  /** Returns true once everything is found. */
  readonly find = (record: JournalRecord, position: JournalPosition): true | undefined => {
    for (const event of [...record.events].reverse()) {
      this.#take(event, record, position);
      if (this.#isWhole(event)) return true;
    }
    return undefined;
  };

  #take(event: GateEvent, record: JournalRecord, position: JournalPosition): void {
    if (event.type === "ruled") this.#takeRuling(event);
    if (!("decisionId" in event) || event.decisionId !== this.#decisionId) return;
    if (isCallResult(event)) this.result ??= explainedResult(event);
    if (isDecision(event)) {
      this.decisions.unshift({ event, record, position });
      this.grant ??= grantByPolicy(event);
    }
  }

  #takeRuling(event: VerdictRuled): void {
    if (event.kind === "approve" && event.decisionId === this.#decisionId) this.said.unshift(event);
    const last = this.decisions.at(-1)?.event;
    const key = manualGrantOf(last);
    if (this.grant !== null || key === null || last?.type !== "allowed") return;
    if (!isGrantFor(last, key, event)) return;
    const { by, tier, tool, reason, atMs: at, untilMs: until } = event;
    this.grant = { by, tier, tool, reason, at, until };
  }

  #isWhole(event: GateEvent): boolean {
    const [first] = this.decisions;
    if (first === undefined || first.event.approval.approvalId !== null) return false;
    if (this.grant !== null || manualGrantOf(this.decisions.at(-1)?.event) === null) return true;
    // The grant is of this conversation since it began.
    const { tenantId, conversationId } = first.event;
    const isSame =
      isDecision(event) && event.tenantId === tenantId && event.conversationId === conversationId;
    return isSame && event.conversation.fresh;
  }
}

function manualGrantOf(event: DecisionEvent | undefined): string | null {
  return event?.type === "allowed" ? (event.facts.more?.manualGrant ?? null) : null;
}

function grantByPolicy(event: DecisionEvent): ExplainedGrant | null {
  if (event.type !== "allowed" || event.facts.grant === null) return null;
  const { tier, expiresAtMs: until } = event.facts.grant;
  return { by: null, tier, tool: null, reason: null, at: null, until };
}

function explainedResult(result: CallResult): ExplainedResult {
  const nothing = { effect: null, error: null, durationMs: null, by: null, reason: null };
  const { type, atMs: at } = result;
  switch (result.type) {
    case "outcome_unknown":
      return { type, status: "unknown", at, ...nothing };
    case "reconciled": {
      const { outcome: status, by, reason } = result;
      return { type, status, at, ...nothing, by, reason };
    }
    case "result_recorded": {
      const { status, effect, error, durationMs } = result;
      const shown = error === null ? null : { code: error.code, message: error.message };
      return { type, status, at, ...nothing, effect, error: shown, durationMs };
    }
  }
}
