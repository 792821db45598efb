// What the reference engine remembers of a conversation: everything, in the order it happened. It
// has no index and forgets nothing; it answers every question by a scan.
import type { CallStatus, ExclusiveEffect, PendingEffect } from "../../../services/core/events.ts";
import type { FailureEffect, Money, ProposalInput } from "../../../services/core/inputs.ts";
import type { CompiledHold, CompiledTool } from "../../../services/core/policy/compiled.ts";
import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";

/** A call as parsed from its proposal: everything that follows from tool and arguments. */
export interface Asked {
  readonly input: ProposalInput;
  readonly decisionId: string;
  readonly argumentsDigest: string;
  readonly tool: CompiledTool;
  readonly actionKey: string;
  /** Resources whose change makes a repeat intended; null: a change of anything does. */
  readonly resources: readonly string[] | null;
  /** For a read: whether its output may show what is written there. */
  readonly shows: (resource: string) => boolean;
  /** The resources that its arguments name; null: not declared, it may touch anything. */
  readonly touched: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
  /** Texts that another call of the turn may be almost equal to. */
  readonly similar: readonly Similar[];
  /** Effects whose resource its result will name. */
  readonly pending: readonly PendingEffect[];
}

export interface Similar {
  /** The declared field and the values that must be equal. */
  readonly key: string;
  readonly text: string;
  readonly threshold: number;
}

/**
 * A call that was allowed, is held, was a read answered from memory, or was refused and counts in
 * budgets.
 */
export interface Call extends Asked {
  kind: "allowed" | "held" | "answered" | "hold ended" | "refused";
  /** Gate time when it was held, ms. */
  heldAtMs: number;
  /** The approval id under which it was held, if it was. */
  askedAs: string | null;
  /** Position in the history at which its present state began. */
  order: number;
  /** Time of the proposals when it was decided. */
  atMs: number;
  turn: number;
  /** When it was first counted: when it was held, or allowed at once. */
  counted: { readonly order: number; readonly turn: number; readonly start: Start };
  /** Its result may name more resources. */
  touched: readonly string[] | null;
  exclusive: readonly ExclusiveEffect[];
  status: CallStatus;
  /** Position in the history of its result; null: none came. */
  settled: number | null;
  outputDigest: string | null;
  /** Digests of output and error by which calls of one action are compared. */
  maskedDigest: string | null;
  /** Whether no other recent call had its outcome. */
  isNew: boolean;
  whole: boolean;
  error: string | null;
  transient: boolean;
  /** Effect of a call that failed. */
  effect: FailureEffect | null;
  /** Whether its effect is still open, although it failed. */
  inDoubt: boolean;
  /** Whether an earlier attempt of its execution may have taken effect. */
  doubted: boolean;
  /** Position at which it may have changed something; null: it did not. */
  actedAt: number | null;
  /**
   * Its end as it counts among failures in a row: a report after the next attempt does not change
   * it.
   */
  end: { readonly status: CallStatus; readonly order: number } | null;
  /** The reserved cost, then the actual cost. */
  cost: Money | null;
  /** The manual grant that it used up. */
  manualGrant: string | null;
  /** The reported failure of a call that failed. */
  failure: Failure | null;
  execution: {
    readonly decisionId: string;
    readonly openedAtMs: number;
    readonly attempt: number;
  };
  repeats: number;
  notAfterMs: number;
  /** When a tick gives the call up. */
  giveUpAtMs: number;
  started: boolean;
  hold: {
    readonly id: string;
    /** The n-th hold of the decision. */
    readonly number: number;
    readonly expiresAtMs: number;
    readonly requireReason: boolean;
    readonly approvals: number;
    readonly approvedBy: string[];
  } | null;
}

export interface Failure {
  readonly atMs: number;
  readonly code: string | null;
  readonly retryable: boolean | null;
  readonly texts: readonly string[];
}

export interface Refusal {
  readonly order: number;
  readonly turn: number;
  readonly reason: ReasonCode;
  readonly strike: { readonly key: string; readonly step: string | null } | null;
  readonly userInput: boolean;
  /** The tool of the refused call, where it reads; null: it writes. */
  readonly readBy: string | null;
  readonly ended: "turn" | "conversation" | null;
  /** The action that the model must respond to. */
  readonly asksAbout: string | null;
  readonly cycle: readonly string[] | null;
}

/** The decision under a name, for redelivery. */
export interface NameEntry {
  readonly name: string;
  readonly decisionId: string;
}

/** A person's denial. */
export interface Denied {
  readonly call: Call;
  readonly turn: number;
  readonly untilMs: number;
  readonly terms: CompiledHold;
}

export interface ManualGrant {
  calls: number | null;
  readonly untilMs: number | null;
  readonly revoked: boolean;
  readonly by: string;
  readonly reasoned: boolean;
  /** Position in the history of the verdict. */
  readonly order: number;
}

export interface Start {
  readonly atMs: number;
  readonly heldMs: number;
}

export interface History {
  startedAtMs: number;
  lastAtMs: number;
  /** The number of positions so far. */
  length: number;
  /** The present turn, and the number of turns before it. */
  turn: string | null;
  turns: number;
  readonly calls: Call[];
  readonly refusals: Refusal[];
  readonly names: NameEntry[];
  /** Positions at which progress was made. */
  readonly progress: number[];
  readonly confirmations: string[];
  /** When the present turn began, and how long calls were held before. */
  turnStart: Start;
  /** What verdicts granted and revoked, the latest verdict on each tier and tool. */
  readonly manualGrants: Map<string, ManualGrant>;
  /** Positions at which a person ended the conversation, or lifted every stop; -1: never. */
  endedAt: number;
  resumedAt: number;
  /** What people have denied; of one action only the latest denial. */
  denials: readonly Denied[];
  /** Position at which a person last answered a call; -1: nobody did. */
  answeredAt: number;
  /** Begin (1) and end (-1) of every hold, in the order in which they came. */
  readonly holds: { readonly atMs: number; readonly change: 1 | -1 }[];
}

export function newHistory(atMs: number): History {
  return {
    startedAtMs: atMs,
    lastAtMs: atMs,
    length: 0,
    turn: null,
    turns: 0,
    calls: [],
    refusals: [],
    names: [],
    progress: [],
    confirmations: [],
    turnStart: { atMs, heldMs: 0 },
    manualGrants: new Map(),
    endedAt: -1,
    resumedAt: -1,
    denials: [],
    answeredAt: -1,
    holds: [],
  };
}

/** How long calls have been held until then; holds that overlap count once. */
export function heldMs(history: History, atMs: number): number {
  let total = 0;
  let open = 0;
  let sinceMs = 0;
  for (const hold of history.holds) {
    if (open === 0) sinceMs = hold.atMs;
    open += hold.change;
    if (open === 0) total += Math.max(0, hold.atMs - sinceMs);
  }
  return open === 0 ? total : total + Math.max(0, atMs - sinceMs);
}

/** Whether one step issued the calls together, of a tool that takes several equal ones. */
export function parallel(asked: Asked, priorCall: Call): boolean {
  return asked.tool.batchable && sameStep(asked, priorCall);
}

export function sameStep(asked: Asked, priorCall: Call): boolean {
  return (
    asked.input.step !== null &&
    priorCall.input.step === asked.input.step &&
    priorCall.input.turn === asked.input.turn
  );
}

export function byOrder(a: Call, b: Call): number {
  return a.order - b.order;
}

/** The latest calls that were allowed or answered, oldest first. */
export function listRecentCalls(history: History, size: number): Call[] {
  return history.calls
    .filter((call) => call.kind === "allowed" || call.kind === "answered")
    .sort(byOrder)
    .slice(-size);
}

function touches(call: Call, asked: Pick<Asked, "resources" | "tool" | "shows">): boolean {
  if (call.touched === null || asked.resources === null) return true;
  if (call.pending.length > 0 && !isReported(call) && asked.tool.isRead) return true;
  if (asked.tool.isRead) return call.touched.some((resource) => asked.shows(resource));
  return call.touched.some((resource) => asked.resources?.includes(resource) === true);
}

function isReported({ status }: Call): boolean {
  return status !== "in_flight" && status !== "unknown";
}

/**
 * The resources that a call depends on: those that it touches, or those that the result of its
 * prior call has named.
 */
export function dependsOn(history: History, asked: Asked): readonly string[] | null {
  if (asked.pending.length === 0) return asked.touched;
  const priorCall = findPriorCall(history, asked);
  const reportedResources =
    priorCall !== undefined && isReported(priorCall) ? priorCall.touched : null;
  const once = asked.pending.some(({ exclusive }) => exclusive);
  return reportedResources === null && once ? asked.touched : reportedResources;
}

/** Whether anything that the call depends on has changed since `order`. */
export function changedSince(history: History, asked: Asked, order: number): boolean {
  return asked.tool.changesMatter && writtenSince(history, asked, order);
}

/** Whether anything was written since `order` that may touch the resources of the call. */
export function writtenSince(
  history: History,
  asked: Pick<Asked, "actionKey" | "resources" | "tool" | "shows">,
  order: number,
): boolean {
  return history.calls.some((call) => {
    if (call.kind !== "allowed" || call.tool.isRead) return false;
    if (call.actionKey === asked.actionKey || !touches(call, asked)) return false;
    return asked.tool.isRead ? mayHaveActedSince(call, order) : wasWrittenSince(call, order);
  });
}

/** A read runs again when the result of a write came since, or a write is in flight. */
function mayHaveActedSince(write: Call, order: number): boolean {
  if (write.status === "in_flight" || write.status === "unknown") return true;
  return write.actedAt !== null && write.actedAt > order;
}

/** A repeated write is intended when another one was allowed since and did not fail. */
function wasWrittenSince(write: Call, order: number): boolean {
  if (write.status === "failed" || write.status === "not_executed") return false;
  return write.order > order;
}

/** Whether neither the user nor a person whom a call asked has said anything since the call. */
export function isSinceInput(history: History, { turn, order }: Call): boolean {
  return turn === history.turns && order > history.answeredAt;
}

export function lastProgress(history: History): number {
  return Math.max(-1, ...history.progress);
}

/** Earlier allowed calls that are the same one, within the scope of the tool; the latest is last. */
export function allowedPriorCalls(history: History, asked: Asked): Call[] {
  return priorCalls(history, asked, "allowed");
}

/** The attempt of an action that is in doubt, in whatever turn. */
export function doubtOf(history: History, actionKey: string): Call | undefined {
  return history.calls.filter((call) => call.inDoubt && call.actionKey === actionKey).at(-1);
}

/**
 * The call that another one repeats; of a tool that compares within turns, also one of an earlier
 * turn that is in doubt.
 */
export function findPriorCall(history: History, asked: Asked): Call | undefined {
  const own = allowedPriorCalls(history, asked).at(-1);
  const doubt = own === undefined ? doubtOf(history, asked.actionKey) : undefined;
  return doubt === undefined ? own : allowedPriorCalls(history, doubt).at(-1);
}

/** The same call under another name, which waits for a verdict. */
export function heldPriorCall(history: History, asked: Asked): Call | undefined {
  return priorCalls(history, asked, "held").at(-1);
}

function priorCalls(history: History, asked: Asked, kind: Call["kind"]): Call[] {
  return history.calls
    .filter(
      (call) =>
        call.kind === kind &&
        call.actionKey === asked.actionKey &&
        !(kind === "held" && call.decisionId === asked.decisionId) &&
        (asked.tool.scope === "conversation" || call.input.turn === asked.input.turn),
    )
    .sort(byOrder);
}

/** Names of random histories differ only in capitals and outer spaces. */
export function isOne(name: string, other: string): boolean {
  return name.trim().toLowerCase() === other.trim().toLowerCase();
}
