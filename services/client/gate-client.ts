/**
 * The agent's side of the gate: appends proposals, reports and verdicts, and answers from the journal.
 *
 * C1 nothing resolves before its journal record is durable.
 * C2 no answer is no permission: a gate that cannot decide refuses with `gate_unavailable`.
 */

import type { CallAllowed, DecisionEvent, GateEvent, OutcomeUnknown } from "../core/events.ts";
import type { CallError } from "../core/inputs.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import { conversationKey, partitionOf } from "../runtime/partitioner.ts";
import type { RecordHeader } from "../runtime/ports.ts";
import type { InputTopic } from "../runtime/topics.ts";
import type { Envelope } from "../wire/envelope.ts";
import { type CallReport, type JudgedReport, reportOfExecution } from "./call-report.ts";
import type { CallStart } from "./call-start.ts";
import { asCallgateError, CallgateError } from "./callgate-error.ts";
import { checkReport } from "./check-report.ts";
import { decisionOf, unavailable } from "./decision-view.ts";
import type { GateLink, JournalListener } from "./gate-link.ts";
import type {
  Approval,
  Decision,
  ProposalToken,
  ProposedCall,
  ReportOutcome,
  StoredResult,
  UnavailableDetail,
  WaitOptions,
} from "./gate-types.ts";
import { JournalCalls, unknownDecision } from "./journal-calls.ts";
import { JournalReplies, type OutgoingInput } from "./journal-replies.ts";
import { JournalWaits } from "./journal-waits.ts";
import { isDecision, type KnownCall } from "./known-calls.ts";
import { proposalEnvelope } from "./proposal-envelope.ts";
import { resultInput } from "./result-input.ts";
import type { ExecutionReport } from "./run-call.ts";
import { type EndedCall, endedCalls } from "./stored-result.ts";
import { TimeLimit } from "./time-limit.ts";
import { tokenHeaders } from "./token-headers.ts";
import { unknownApproval, verdictIgnored, verdictInput } from "./verdict-input.ts";

export type GateClientOptions = {
  readonly timeoutMs: number;
  readonly onLost: ((error: CallgateError) => void) | undefined;
  /** Goes with each proposal. */
  readonly token?: ProposalToken | undefined;
};

export type Proposed = {
  readonly decision: Decision;
  /** It was read from; null where there is none. */
  readonly event: DecisionEvent | null;
  /** The proposal may be in the log: it is decided, or may be. */
  readonly isSent: boolean;
};

type ConversationName = { readonly tenantId: string; readonly conversationId: string };

export class GateClient {
  readonly #link: GateLink;
  readonly #timeoutMs: number;
  readonly #replies: JournalReplies;
  readonly #calls: JournalCalls;
  readonly #decisions = new JournalWaits<DecisionEvent>(
    ({ record }) => terminalDecisions(record.events),
    (id) => `\`${id}\` is still held: it was not decided`,
  );
  readonly #results = new JournalWaits<StoredResult>(
    ({ record }) => endedCalls(record),
    (id) => `what came of \`${id}\` was not told`,
  );
  readonly #onLost: ((error: CallgateError) => void) | undefined;
  readonly #keyOf = (event: CallAllowed): string | undefined => this.#link.keyOf(event);
  readonly #argumentsOf = (event: CallAllowed): string | undefined => this.#link.argumentsOf(event);
  readonly #token: ProposalToken | undefined;
  #closing = false;

  constructor(link: GateLink, options: GateClientOptions) {
    this.#link = link;
    this.#calls = new JournalCalls(link);
    const { timeoutMs } = options;
    this.#token = options.token;
    this.#timeoutMs = timeoutMs;
    this.#replies = new JournalReplies(link.log, { timeoutMs, together: !link.isRemote });
    this.#onLost = options.onLost;
    link.onCommitted((records, partition) => this.#committed(records, partition));
    link.onLost((error) => this.#lost(error));
  }

  /** @throws CallgateError: `invalid_input`, or nothing could be written (`storage_full`, …). */
  async propose(call: ProposedCall): Promise<Proposed> {
    const envelope = proposalEnvelope(call);
    const detail = this.#whyUnavailable();
    if (detail !== null) return { ...this.#unavailable(envelope, detail), isSent: false };
    let record: CommittedRecord;
    try {
      const value = this.#link.codec.encodeProposal(envelope);
      const headers = this.#token === undefined ? undefined : await tokenHeaders(this.#token, call);
      record = await this.#send("proposals", envelope, value, undefined, headers);
    } catch (error) {
      return this.#unanswered(envelope, asCallgateError(error));
    }
    const event = record.record.events[0];
    if (event?.type === "repeated") return this.#proposed(event.decision, true);
    if (isDecision(event)) return this.#proposed(event, false);
    throw deadLetter(record);
  }

  /** @throws CallgateError: `invalid_input`; nothing could be written, or `timeout`. */
  async report(decisionId: string, report: CallReport): Promise<ReportOutcome> {
    checkReport(report);
    return this.#report(decisionId, report, this.timeFor(decisionId));
  }

  /** As `report`, of what an executor of this program found out. */
  reportExecution(decisionId: string, report: ExecutionReport): Promise<ReportOutcome> {
    return this.#report(decisionId, reportOfExecution(report), this.timeFor(decisionId));
  }

  /** Says under a name that the call begins. @throws CallgateError as `report`. */
  claim(decisionId: string, name: string, time: TimeLimit): Promise<ReportOutcome> {
    return this.#report(decisionId, { status: "started" }, time, name);
  }

  async #report(
    decisionId: string,
    report: JudgedReport,
    time: TimeLimit,
    executorId?: string,
  ): Promise<ReportOutcome> {
    const call = await this.#calls.get(decisionId, time);
    if (call === undefined) return { recorded: false, why: "unknown_call" };
    const { outputBytes } = this.#link;
    const input = resultInput(call, report, outputBytes);
    const named = executorId === undefined ? input : { ...input, executorId };
    const value = this.#link.codec.encodeResult(named);
    const outcome = reportOutcome(await this.#send("results", call, value, time.leftMs));
    if (outcome.recorded || outcome.why !== "unknown_call") return outcome;
    // The gate forgets calls that are over; the journal does not. It may be over since a moment ago.
    const isOver = await this.#calls.isOver(call, time);
    return isOver ? { recorded: false, why: "already_reported" } : outcome;
  }

  /**
   * The decision that comes of the verdict: the call is allowed, refused by what changed meanwhile, held anew under
   * another rule, or held as it was where others must approve, too.
   *
   * @throws CallgateError `unknown_approval`, `reason_required`, `self_approval`, or not written; `timeout`.
   */
  async decideHold(
    kind: "approve" | "deny",
    approvalId: string,
    verdict: Approval,
  ): Promise<Decision> {
    const time = this.timeFor(approvalId);
    const call = await this.#calls.held(approvalId, time);
    if (call === undefined) throw unknownApproval(approvalId);
    const value = this.#link.codec.encodeVerdict(verdictInput(kind, call, approvalId, verdict));
    const { record } = await this.#send("verdicts", call, value, time.leftMs);
    const event = record.events[0];
    if (isDecision(event)) return this.#proposed(event, false).decision;
    if (event?.type === "ruled") {
      const held = await this.#calls.decisionOf(this.#calls.latest(call), time);
      if (held !== undefined) return this.#proposed(held, true).decision;
    }
    throw verdictIgnored(event, approvalId);
  }

  /**
   * The terminal decision: at once where there is one, else when the hold ends.
   *
   * @throws CallgateError `unknown_decision`, `timeout`, `closed`; the signal's reason.
   */
  async awaitDecision(decisionId: string, options: WaitOptions): Promise<Proposed> {
    const { event } = await this.#decided(decisionId, options);
    return this.#proposed(event, false);
  }

  /**
   * How an allowed call ended: at once where that is journaled, else when it is. `unknown` where nobody
   * told within its time. Of a held call: waits for its decision before.
   *
   * @throws CallgateError as `awaitDecision`; `invalid_input` where the call was refused.
   */
  async awaitResult(decisionId: string, options: WaitOptions): Promise<StoredResult> {
    const wait = this.#results.begin(decisionId, options);
    try {
      const { call, event } = await this.#decided(decisionId, options);
      if (event.type !== "allowed") throw noResult(decisionId);
      const known = await this.#calls.endOf(call, wait);
      return known === undefined ? await wait.ended() : known.stored;
    } finally {
      wait.end();
    }
  }

  /** How the call ended; undefined where the journal does not tell, or knows no such call. @throws `timeout` */
  async endOf(decisionId: string, time: TimeLimit): Promise<EndedCall | undefined> {
    const call = await this.#calls.get(decisionId, time);
    return call === undefined ? undefined : this.#calls.endOf(call, time);
  }

  /** Who has begun the call; null where nobody has. @throws `unknown_decision`, `timeout` */
  async startOf(decisionId: string, time: TimeLimit): Promise<CallStart | null> {
    const call = await this.#calls.get(decisionId, time);
    if (call === undefined) throw unknownDecision(decisionId);
    return this.#calls.startOf(call, time);
  }

  /** Whether the call was begun before this gate was opened. */
  isOfBefore({ place }: CallStart): boolean {
    return this.#calls.isOfBefore(place);
  }

  /** As `startOf`, from memory alone; undefined: it is not there. */
  knownStart(decisionId: string): CallStart | null | undefined {
    return this.#calls.known(decisionId)?.start;
  }

  /** Says that nobody has run the call, and does not wait for an answer. @throws where it may not have been written. */
  async tellUnrun(event: CallAllowed | OutcomeUnknown, error: CallError): Promise<void> {
    if (this.#closing) return;
    const { log, codec } = this.#link;
    const report = { status: "not_executed", error } as const;
    const { callId } = event.type === "allowed" ? event.call : event;
    const input = resultInput({ ...event, callId, isRead: false }, report, 0);
    const outgoing = this.#outgoing("results", event, codec.encodeResult(input));
    await log.append([outgoing]);
  }

  /** The output of an earlier call; undefined where none was reported. @throws `unknown_decision`, `timeout` */
  previousResult(ref: string): Promise<StoredResult | undefined> {
    return this.#calls.previousResult(ref, this.timeFor(ref));
  }

  /** All that one question about this id may take, counted from now on. */
  timeFor(id: string): TimeLimit {
    return new TimeLimit(id, { timeoutMs: this.#timeoutMs });
  }

  /** Told after the client has taken note. */
  onCommitted(listener: JournalListener): void {
    this.#link.onCommitted(listener);
  }

  /** From now on calls are refused; what is under way may still be reported. */
  refuseNew(): void {
    this.#closing = true;
  }

  /** Resolves when everything asked so far is answered. */
  drained(): Promise<void> {
    return this.#replies.drained();
  }

  /** Nothing is answered any more. */
  close(): void {
    this.refuseNew();
    const error = closed();
    this.#calls.close(error);
    this.#end(error);
  }

  /** The refusal of a call that could not be decided because of an error. */
  unavailableFor(call: ProposedCall & { readonly callId: string }, error: unknown): Proposed {
    const envelope = proposalEnvelope(call);
    return this.#unavailable(envelope, this.#whyUnavailable() ?? "timeout", asCallgateError(error));
  }

  get policyRevision(): string {
    return this.#link.policyRevision;
  }

  #proposed(event: DecisionEvent, repeated: boolean): Proposed {
    const options = { repeated, keyOf: this.#keyOf, argumentsOf: this.#argumentsOf };
    return { decision: decisionOf(event, options), event, isSent: true };
  }

  #send(
    topic: InputTopic,
    name: ConversationName,
    value: Uint8Array,
    leftMs = this.#timeoutMs,
    headers?: readonly RecordHeader[],
  ): Promise<CommittedRecord> {
    const plain = this.#outgoing(topic, name, value);
    const input = headers === undefined ? plain : { ...plain, headers };
    // Before it is appended: the gate may answer sooner than the append returns.
    return this.#replies.send(input, this.#link.follow(input.partition), leftMs);
  }

  #outgoing(topic: InputTopic, name: ConversationName, value: Uint8Array): OutgoingInput {
    const key = Buffer.from(conversationKey(name.tenantId, name.conversationId), "utf8");
    return { topic, partition: partitionOf(key, this.#link.log.partitions), key, value };
  }

  #committed(records: readonly CommittedRecord[], partition: number): void {
    this.#calls.committed(records, partition);
    this.#replies.committed(records);
    this.#decisions.committed(records);
    this.#results.committed(records);
  }

  #lost(error: CallgateError): void {
    this.#end(error);
    if (!this.#closing) this.#onLost?.(error);
  }

  #end(error: CallgateError): void {
    this.#replies.end(error);
    this.#decisions.end(error);
    this.#results.end(error);
  }

  #whyUnavailable(): UnavailableDetail | null {
    return this.#closing ? "closed" : this.#link.whyUnavailable();
  }

  #unavailable(envelope: Envelope, detail: UnavailableDetail, cause?: Error): Proposed {
    const { callId, tool } = envelope;
    const text = typeof envelope.arguments === "string" ? envelope.arguments : "";
    const problem = cause?.message ?? this.#link.problem();
    const policy = this.policyRevision;
    const call = { callId, tool, arguments: text, detail, policy, problem };
    return { decision: unavailable(call), event: null, isSent: true };
  }

  /** No answer came: refused where asking again is all there is to do, else the error itself. */
  #unanswered(envelope: Envelope, error: CallgateError): Proposed {
    const detail = this.#whyUnavailable();
    const unreachable = this.#link.isRemote && error.code === "storage_unavailable";
    if (error.code === "timeout" || unreachable) {
      return this.#unavailable(envelope, detail ?? "timeout", error);
    }
    if (error.code === "closed" || detail !== null) {
      return this.#unavailable(envelope, detail ?? "closed", error);
    }
    throw error;
  }

  /** The call, and what was decided of it in the end. */
  async #decided(
    decisionId: string,
    options: WaitOptions,
  ): Promise<{ readonly call: KnownCall; readonly event: DecisionEvent }> {
    // Waiting begins before looking: what is decided meanwhile must not be missed.
    const wait = this.#decisions.begin(decisionId, options);
    try {
      const call = await this.#calls.get(decisionId, wait);
      const event = call === undefined ? undefined : await this.#calls.decisionOf(call, wait);
      if (call === undefined) throw unknownDecision(decisionId);
      // Of a hold that waits nothing else is known where its record is gone.
      const isHeld = (event ?? { type: this.#calls.latest(call).outcome }).type === "held";
      if (event === undefined && !isHeld) throw unknownDecision(decisionId);
      if (event !== undefined && !isHeld) return { call, event };
      const decided = await wait.ended();
      return { call: this.#calls.latest(call), event: decided };
    } finally {
      wait.end();
    }
  }
}

function closed(): CallgateError {
  return new CallgateError("closed", "the gate is closed: open it again");
}

function terminalDecisions(events: readonly GateEvent[]) {
  return events.flatMap((event) =>
    event.type === "allowed" || event.type === "refused"
      ? [[event.decisionId, event] as const]
      : [],
  );
}

function noResult(decisionId: string): CallgateError {
  return new CallgateError(
    "invalid_input",
    `\`${decisionId}\` was refused: it does not run, and has no result`,
  );
}

function reportOutcome(committed: CommittedRecord): ReportOutcome {
  const event = committed.record.events[0];
  if (event?.type === "result_recorded") return { recorded: true, status: event.status };
  if (event?.type === "ignored") {
    const { why } = event;
    if (why === "already_reported" || why === "wrong_call") return { recorded: false, why };
    return { recorded: false, why: "unknown_call" };
  }
  throw deadLetter(committed);
}

function deadLetter({ record }: CommittedRecord): CallgateError {
  const code = record.input.type === "quarantined" ? record.input.code : "internal_error";
  return new CallgateError(
    "dead_letter",
    `the gate could not process the input (\`${code}\`): nothing was decided, and it lies in the dead letters`,
  );
}
