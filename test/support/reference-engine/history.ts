// What the reference engine remembers of a conversation: everything, in the order it happened.
// Nothing is indexed and nothing is forgotten; every question is answered by reading it through.
import type { CallStatus, ExclusiveEffect, PendingEffect } from "../../../services/core/events.ts";
import type { FailureEffect, Money, ProposalInput } from "../../../services/core/inputs.ts";
import type { CompiledHold, CompiledTool } from "../../../services/core/policy/compiled.ts";
import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";

/** A call as read from its proposal: everything that follows from tool and arguments. */
export interface Asked {
  readonly input: ProposalInput;
  readonly decisionId: string;
  readonly argumentsDigest: string;
  readonly tool: CompiledTool;
  readonly actionKey: string;
  /** What a repeat depends on; null: on anything. */
  readonly resources: readonly string[] | null;
  /** Of a read: whether its answer may show what is written there. */
  readonly shows: (resource: string) => boolean;
  /** What its arguments say that it touches; null: not declared, it may touch anything. */
  readonly touched: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
  /** Texts that a call of the turn may be almost like. */
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

/** A call that was let through, is held, was a read answered from memory, or was refused and counts in budgets. */
export interface Call extends Asked {
  kind: "allowed" | "held" | "answered" | "hold ended" | "refused";
  /** Gate time when it was held, ms. */
  heldAtMs: number;
  /** The approval id under which it was held, if it was. */
  askedAs: string | null;
  /** Place in the history at which it became what it is. */
  order: number;
  /** Time of the proposals when it was decided. */
  atMs: number;
  turn: number;
  /** Where it was first counted: when it was held, or allowed at once. */
  counted: { readonly order: number; readonly turn: number; readonly start: Start };
  /** Its result may name more. */
  touched: readonly string[] | null;
  exclusive: readonly ExclusiveEffect[];
  status: CallStatus;
  /** Place in the history of its result; null: none came. */
  settled: number | null;
  outputDigest: string | null;
  whole: boolean;
  error: string | null;
  transient: boolean;
  /** Of a call that failed. */
  effect: FailureEffect | null;
  /** What became of it is still open, although it failed. */
  inDoubt: boolean;
  /** An earlier attempt of its execution may have taken effect. */
  doubted: boolean;
  /** Place at which it may have changed something; null: it did not. */
  actedAt: number | null;
  /** Its end as it counts among failures in a row: what is said after the next attempt does not change it. */
  end: { readonly status: CallStatus; readonly order: number } | null;
  /** What is reserved of the spend budgets, then what it did cost. */
  cost: Money | null;
  /** The grant by verdict that it used up. */
  manualGrant: string | null;
  /** As told, of a call that failed. */
  failure: Failure | null;
  execution: {
    readonly decisionId: string;
    readonly openedAtMs: number;
    readonly attempt: number;
  };
  repeats: number;
  notAfterMs: number;
  /** When a tick gives it up. */
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
  readonly ended: "turn" | "conversation" | null;
  /** The action that the model must speak to. */
  readonly asksAbout: string | null;
  readonly cycle: readonly string[] | null;
}

/** The decision that stands under a name, for redelivery. */
export interface NameEntry {
  readonly name: string;
  readonly decisionId: string;
}

/** A person's no. */
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
  /** Place in the history of the verdict. */
  readonly order: number;
}

export interface Start {
  readonly atMs: number;
  readonly heldMs: number;
}

export interface History {
  startedAtMs: number;
  lastAtMs: number;
  /** Places given out so far. */
  length: number;
  /** The present turn and how many there were before it. */
  turn: string | null;
  turns: number;
  readonly calls: Call[];
  readonly refusals: Refusal[];
  readonly names: NameEntry[];
  /** Places at which progress was made. */
  readonly progress: number[];
  readonly confirmations: string[];
  /** When the present turn began, and how long calls were held before. */
  turnStart: Start;
  /** What verdicts gave and took, the latest word on each tier and tool. */
  readonly manualGrants: Map<string, ManualGrant>;
  /** Places at which a person ended the conversation, or lifted every stop; -1: never. */
  endedAt: number;
  resumedAt: number;
  /** What people have denied; of one action the latest alone. */
  denials: readonly Denied[];
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
    holds: [],
  };
}

/** How long calls have been held until then; holds at the same time count once. */
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

/** Calls that one step issued together, of a tool that takes several equal ones. */
export function parallel(asked: Asked, priorCall: Call): boolean {
  return (
    asked.tool.batchable &&
    asked.input.step !== null &&
    priorCall.input.step === asked.input.step &&
    priorCall.input.turn === asked.input.turn
  );
}

export function byOrder(a: Call, b: Call): number {
  return a.order - b.order;
}

/** The last calls that were allowed or answered, oldest first. */
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

/** What a call depends on: what it touches itself, or what the result of the one before it has named. */
export function dependsOn(history: History, asked: Asked): readonly string[] | null {
  if (asked.pending.length === 0) return asked.touched;
  const priorCall = findPriorCall(history, asked);
  const reportedResources =
    priorCall !== undefined && isReported(priorCall) ? priorCall.touched : null;
  const once = asked.pending.some(({ exclusive }) => exclusive);
  return reportedResources === null && once ? asked.touched : reportedResources;
}

/** Whether anything has changed, since `order`, that the call depends on. */
export function changedSince(history: History, asked: Asked, order: number): boolean {
  return asked.tool.changesMatter && writtenSince(history, asked, order);
}

/** Whether anything was written since `order` that may touch what the call touches. */
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

/** A read runs again when a write's result came in since, or one is under way. */
function mayHaveActedSince(write: Call, order: number): boolean {
  if (write.status === "in_flight" || write.status === "unknown") return true;
  return write.actedAt !== null && write.actedAt > order;
}

/** A repeated write is meant when another one was allowed since and did not fail. */
function wasWrittenSince(write: Call, order: number): boolean {
  if (write.status === "failed" || write.status === "not_executed") return false;
  return write.order > order;
}

export function lastProgress(history: History): number {
  return Math.max(-1, ...history.progress);
}

/** Earlier allowed calls that are the same one, within the scope of the tool; the latest is last. */
export function allowedPriorCalls(history: History, asked: Asked): Call[] {
  return priorCalls(history, asked, "allowed");
}

/** The attempt that is in doubt, of one action in whatever turn. */
export function doubtOf(history: History, actionKey: string): Call | undefined {
  return history.calls.filter((call) => call.inDoubt && call.actionKey === actionKey).at(-1);
}

/** The call that another one repeats; of a tool that compares within turns, also what is in doubt of an earlier one. */
export function findPriorCall(history: History, asked: Asked): Call | undefined {
  const own = allowedPriorCalls(history, asked).at(-1);
  const doubt = own === undefined ? doubtOf(history, asked.actionKey) : undefined;
  return doubt === undefined ? own : allowedPriorCalls(history, doubt).at(-1);
}

/** The same call under another name, waiting for a verdict. */
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

/** Names of random histories differ in capitals and blanks at their ends alone. */
export function isOne(name: string, other: string): boolean {
  return name.trim().toLowerCase() === other.trim().toLowerCase();
}
