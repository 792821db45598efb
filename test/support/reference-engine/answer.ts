// The visible answer to one input, by which the two engines are compared.
import type { Notice } from "../../../services/core/decision.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";

export interface Answer {
  readonly outcome: string;
  readonly decisionId: string | null;
  readonly reason?: ReasonCode | string;
  readonly warnings?: readonly ReasonCode[];
  readonly shadow?: readonly ReasonCode[];
  readonly answered?: boolean;
  /** The call that the refusal, or its repetition, points at. */
  readonly count?: number | null;
  readonly level?: number;
  readonly raised?: { readonly userInput: boolean; readonly ended: string | null };
  readonly cycle?: readonly string[] | null;
  readonly execution?: { readonly decisionId: string; readonly attempt: number };
  readonly holdId?: string;
  readonly deadlineMs?: number;
  readonly fresh?: boolean;
  readonly status?: string;
  readonly transient?: boolean;
  readonly effect?: string | null;
}

function codes(notices: readonly Notice[]): ReasonCode[] {
  return [...new Set(notices.map((notice) => notice.reason))];
}

/** The answer in an event of the engine. */
export function answerOf(event: GateEvent): Answer {
  switch (event.type) {
    case "allowed":
      return {
        outcome: "allowed",
        decisionId: event.decisionId,
        warnings: codes(event.notices.warnings),
        shadow: codes(event.notices.shadow),
        execution: {
          decisionId: event.execution.decisionId,
          attempt: event.execution.attempt,
        },
        deadlineMs: event.notAfterMs,
        fresh: event.conversation.fresh,
      };
    case "held":
      return {
        outcome: "held",
        decisionId: event.decisionId,
        warnings: codes(event.notices.warnings),
        shadow: codes(event.notices.shadow),
        holdId: event.holdId,
        deadlineMs: event.expiresAtMs,
        fresh: event.conversation.fresh,
      };
    case "refused":
      return {
        outcome: "refused",
        decisionId: event.decisionId,
        reason: event.refusal.reason,
        warnings: codes(event.notices.warnings),
        shadow: codes(event.notices.shadow),
        answered: event.answered !== null,
        count: event.strike?.count ?? null,
        level: event.refusal.level,
        raised: {
          userInput: event.raised?.userInput ?? false,
          ended: event.raised?.ended ?? null,
        },
        cycle: event.cycle === null ? null : [...event.cycle].sort(),
        fresh: event.conversation.fresh,
      };
    case "repeated":
      return { outcome: `repeated ${event.decision.type}`, decisionId: event.decisionId };
    case "result_recorded":
      return {
        outcome: event.type,
        decisionId: event.decisionId,
        status: event.status,
        transient: event.transient,
        effect: event.effect,
      };
    case "outcome_unknown":
      return { outcome: event.type, decisionId: event.decisionId };
    case "reconciled":
      return { outcome: event.type, decisionId: event.decisionId, status: event.outcome };
    case "ruled":
      return { outcome: `ruled ${event.kind}`, decisionId: event.decisionId };
    case "claimed":
      return { outcome: event.type, decisionId: event.decisionId };
    case "ignored":
      return { outcome: "ignored", decisionId: null, reason: event.why };
  }
}
