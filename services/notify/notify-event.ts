/** What people hear of: the events, and what each of them says. */
import type { JsonObject } from "../core/canonical/json-value.ts";
import type { RuleScope } from "../core/events.ts";
import type { Refusal } from "../core/refusal.ts";
import type { Alert } from "../wire/output-records.ts";

/** How a target's `events` call it. */
export type EventWord = NotifyEvent["word"];

export type NotifyEvent = CallEvent | ConversationEvent | AlertEvent;

type Occurred = {
  /** The same in every try, and however often the journal is read: what happened has this id. */
  readonly id: string;
  readonly atMs: number;
};

/** A hold began, or it ended: by exactly one of the other words, or by another hold. */
export type CallEvent = Occurred & {
  readonly word: "held" | "approved" | "denied" | "cancelled" | "expired" | "refused";
  readonly data: CallData & (HeldData | EndedData);
};

export type CallData = {
  readonly approvalId: string;
  readonly decisionId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly agentId: string | null;
  readonly callId: string;
  readonly tool: string;
  /** As the journal has them: sensitive values are digests. Null: they are too long. */
  readonly arguments: JsonObject | null;
  /** The beginning of arguments that are too long; null: they are whole. */
  readonly argumentsBeginning: string | null;
  /** Gate time, ms. */
  readonly at: number;
};

export type HeldData = {
  readonly expiresAt: number;
  readonly message: string;
  readonly rule: string;
  readonly requireReason: boolean;
  /** How many people must approve. */
  readonly approvals: number;
  /** What further calls a grant would allow. */
  readonly further: RuleScope;
  /** The approval id of the hold that this one replaces, since the rule has changed. */
  readonly replaces: string | null;
};

export type EndedData = {
  /** Who approved, denied or cancelled it. */
  readonly by: readonly string[];
  /** The reason that the person gave for a denial. */
  readonly reason: string | null;
  /** Null: the call may run. */
  readonly refusal: Pick<Refusal, "reason" | "message" | "rule"> | null;
};

export type ConversationEvent = Occurred & {
  readonly word: "conversation_ended";
  readonly data: {
    readonly tenantId: string;
    readonly conversationId: string;
    /** Gate time, ms. */
    readonly at: number;
    /** `person`: by a verdict; `escalation`: its calls were refused too often. */
    readonly cause: "person" | "escalation";
    readonly by: string | null;
    readonly reason: string | null;
    /** The agent and the refused call that ended it; null: a person did. */
    readonly agentId: string | null;
    readonly decisionId: string | null;
  };
};

export type AlertEvent = Occurred & {
  readonly word: "alert";
  /** `resolvedAt`: null as long as the cause lasts. */
  readonly data: Omit<Alert, "atMs" | "resolvedAtMs"> & {
    readonly at: number;
    readonly resolvedAt: number | null;
  };
};
