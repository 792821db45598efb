/**
 * The agent's side of the gate: appends proposals, reports and verdicts, and answers from the
 * journal.
 *
 * CLIENT-1 nothing resolves before its journal record is durable.
 * CLIENT-2 no answer is no permission: a gate that cannot decide refuses with `gate_unavailable`.
 */

import type { CallAllowed, DecisionEvent, OutcomeUnknown } from "../core/events.ts";
import type { CallError, VerdictInput } from "../core/inputs.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import { conversationKey, partitionOf } from "../runtime/partitioner.ts";
import type { RecordHeader } from "../runtime/ports.ts";
import { noTelemetry, type Telemetry } from "../runtime/telemetry.ts";
import type { InputTopic } from "../runtime/topics.ts";
import type { Envelope } from "../wire/proposal.ts";
import { asCallgateError, CallgateError } from "./api/callgate-error.ts";
import type {
  Approval,
  Decision,
  ProposalToken,
  ProposedCall,
  Reconciliation,
  ReportOutcome,
  RulingOutcome,
  StoredResult,
  UnavailableDetail,
  WaitOptions,
} from "./api/gate-types.ts";
import type { ExecutionReport } from "./calls/run-call.ts";
import { Deadline } from "./deadline.ts";
import { decisionOf, unavailable } from "./decisions/decision-view.ts";
import type { GateLink, JournalListener } from "./gate-link.ts";
import { proposalEnvelope, tokenHeaders } from "./inputs/proposal.ts";
import {
  type CallReport,
  checkReport,
  type JudgedReport,
  reportOfExecution,
  resultInput,
} from "./inputs/report.ts";
import { reconcileInput, whyNotRuled } from "./inputs/ruling.ts";
import {
  type HoldVerdict,
  unknownApproval,
  verdictIgnored,
  verdictInput,
} from "./inputs/verdict.ts";
import { CallReader } from "./journal/call-reader.ts";
import { JournalCalls, unknownDecision } from "./journal/journal-calls.ts";
import { JournalReplies, type OutgoingInput } from "./journal/journal-replies.ts";
import { isDecision } from "./journal/recent-calls.ts";

export type GateClientOptions = {
  readonly timeoutMs: number;
  readonly onLost: ((error: CallgateError) => void) | undefined;
  /** Sent with each proposal. */
  readonly token?: ProposalToken | undefined;
  /** Follows proposals. */
  readonly telemetry?: Telemetry | undefined;
};

export type Proposed = {
  readonly decision: Decision;
  /** The journaled event of the decision; null if there is none. */
  readonly event: DecisionEvent | null;
  /** Whether the proposal may be in the log: the gate has decided it, or may decide it. */
  readonly isSent: boolean;
};

type ConversationName = { readonly tenantId: string; readonly conversationId: string };

export class GateClient {
  readonly #link: GateLink;
  readonly #timeoutMs: number;
  readonly #replies: JournalReplies;
  readonly #calls: JournalCalls;
  /** Answers what became of calls. */
  readonly reader: CallReader;
  readonly #onLost: ((error: CallgateError) => void) | undefined;
  readonly #keyOf = (event: CallAllowed): string | undefined => this.#link.keyOf(event);
  readonly #argumentsOf = (event: CallAllowed): string | undefined => this.#link.argumentsOf(event);
  readonly #token: ProposalToken | undefined;
  readonly #telemetry: Telemetry;
  #closing = false;

  constructor(link: GateLink, options: GateClientOptions) {
    this.#link = link;
    this.#calls = new JournalCalls(link);
    this.reader = new CallReader(this.#calls);
    const { timeoutMs } = options;
    this.#token = options.token;
    this.#telemetry = options.telemetry ?? noTelemetry;
    this.#timeoutMs = timeoutMs;
    this.#replies = new JournalReplies(link.log, { timeoutMs, together: !link.isRemote });
    this.#onLost = options.onLost;
    link.onCommitted((records, partition) => this.#committed(records, partition));
    link.onLost((error) => this.#lost(error));
  }

  /**
   * @param parent trace headers of the request that the proposal came with.
   * @throws CallgateError: `invalid_input`, or nothing could be written (`storage_full`, …).
   */
  async propose(call: ProposedCall, parent: readonly RecordHeader[] = []): Promise<Proposed> {
    const envelope = proposalEnvelope(call);
    const trace = this.#telemetry.begin(envelope, parent);
    if (trace === null) return this.#propose(call, envelope, parent);
    try {
      const headers = trace.headers.length === 0 ? parent : trace.headers;
      const proposed = await this.#propose(call, envelope, headers);
      trace.decided(proposed.event);
      return proposed;
    } catch (error) {
      trace.failed(asCallgateError(error).code);
      throw error;
    }
  }

  async #propose(
    call: ProposedCall,
    envelope: Envelope,
    traced: readonly RecordHeader[],
  ): Promise<Proposed> {
    const detail = this.#whyUnavailable();
    if (detail !== null) return { ...this.#unavailable(envelope, detail), isSent: false };
    let record: CommittedRecord;
    try {
      const value = this.#link.codec.encodeProposal(envelope);
      const signed = this.#token === undefined ? [] : await tokenHeaders(this.#token, call);
      const headers = [...signed, ...traced];
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

  /**
   * As `report`, for a guard or worker in another process that judged what a handler returned.
   *
   * @param name of the claim under which the call was begun.
   */
  async reportJudged(
    decisionId: string,
    report: JudgedReport,
    name?: string,
  ): Promise<ReportOutcome> {
    const { basis: _basis, whole: _whole, ...checked } = report;
    checkReport(checked);
    return this.#report(decisionId, report, this.timeFor(decisionId), name);
  }

  /** As `report`, for a call that an executor of this program ran. */
  reportExecution(decisionId: string, report: ExecutionReport): Promise<ReportOutcome> {
    return this.#report(decisionId, reportOfExecution(report), this.timeFor(decisionId));
  }

  /** Records that the named claimant starts the call. @throws CallgateError as `report`. */
  claim(decisionId: string, name: string, time: Deadline): Promise<ReportOutcome> {
    return this.#report(decisionId, { status: "started" }, time, name);
  }

  async #report(
    decisionId: string,
    report: JudgedReport,
    time: Deadline,
    executorId?: string,
  ): Promise<ReportOutcome> {
    const call = await this.#calls.get(decisionId, time);
    if (call === undefined) return { recorded: false, why: "unknown_call" };
    const { outputBytes } = this.#link;
    const input = resultInput(call, report, outputBytes);
    const result = executorId === undefined ? input : { ...input, executorId };
    const value = this.#link.codec.encodeResult(result);
    const outcome = reportOutcome(await this.#send("results", call, value, time.leftMs));
    if (outcome.recorded || outcome.why !== "unknown_call") return outcome;
    // The gate forgets calls that are over; the journal does not. The call may just have ended.
    const isOver = await this.#calls.isOver(call, time);
    return isOver ? { recorded: false, why: "already_reported" } : outcome;
  }

  /**
   * Sends the verdict and returns the decision that follows: the call is allowed, refused because
   * of an interim change, held anew under another rule, or still held if others must approve as
   * well.
   *
   * @throws CallgateError `unknown_approval`, `reason_required`, `self_approval`, or not written;
   *   `timeout`.
   */
  async decideHold(kind: HoldVerdict, approvalId: string, verdict: Approval): Promise<Proposed> {
    const time = this.timeFor(approvalId);
    const call = await this.#calls.held(approvalId, time);
    if (call === undefined) throw unknownApproval(approvalId);
    const value = this.#link.codec.encodeVerdict(verdictInput(kind, call, approvalId, verdict));
    const { record } = await this.#send("verdicts", call, value, time.leftMs);
    const event = record.events[0];
    if (isDecision(event)) return this.#proposed(event, false);
    if (event?.type === "ruled") {
      const held = await this.#calls.decisionOf(this.#calls.latest(call), time);
      if (held !== undefined) return this.#proposed(held, true);
    }
    throw verdictIgnored(event, approvalId);
  }

  /** Sends an order. @throws CallgateError where nothing was written, or `timeout`. */
  async rule(order: VerdictInput): Promise<RulingOutcome> {
    const value = this.#link.codec.encodeVerdict(order);
    const { record } = await this.#send("verdicts", order, value);
    const why = whyNotRuled(record.events);
    return why === undefined ? { taken: true } : { taken: false, why };
  }

  /** @throws CallgateError `unknown_decision`, `invalid_input`, or not written; `timeout`. */
  async reconcile(decisionId: string, reconciliation: Reconciliation): Promise<RulingOutcome> {
    const call = await this.#calls.get(decisionId, this.timeFor(decisionId));
    if (call === undefined) throw unknownDecision(decisionId);
    return this.rule(reconcileInput(call, decisionId, reconciliation));
  }

  /**
   * The terminal decision: at once if there is one, else when the hold ends.
   *
   * @throws CallgateError `unknown_decision`, `timeout`, `closed`; the signal's reason.
   */
  async awaitDecision(decisionId: string, options: WaitOptions): Promise<Proposed> {
    return this.#proposed(await this.reader.awaitDecision(decisionId, options), false);
  }

  /**
   * Reports that nobody has run the call, without waiting for an answer. @throws if the report may
   * not have been written.
   */
  async reportUnrun(event: CallAllowed | OutcomeUnknown, error: CallError): Promise<void> {
    if (this.#closing) return;
    const { log, codec } = this.#link;
    const report = { status: "not_executed", error } as const;
    const { callId } = event.type === "allowed" ? event.call : event;
    const input = resultInput({ ...event, callId, isRead: false }, report, 0);
    const outgoing = this.#outgoing("results", event, codec.encodeResult(input));
    await log.append([outgoing]);
  }

  /**
   * The output of an earlier call; undefined if none was reported. @throws `unknown_decision`,
   * `timeout`
   */
  previousResult(ref: string): Promise<StoredResult | undefined> {
    return this.#calls.previousResult(ref, this.timeFor(ref));
  }

  /** The whole time limit of one request about this id, starting now. */
  timeFor(id: string): Deadline {
    return new Deadline(id, { timeoutMs: this.#timeoutMs });
  }

  /** Calls the listener after the client has processed the records. */
  onCommitted(listener: JournalListener): void {
    this.#link.onCommitted(listener);
  }

  /** Refuses new calls from now on; running calls may still be reported. */
  refuseNew(): void {
    this.#closing = true;
  }

  /** Resolves when all requests so far are answered. */
  drained(): Promise<void> {
    return this.#replies.drained();
  }

  /** Ends all waits; the client answers nothing any more. */
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

  /** The decision as programs see it. */
  show(event: DecisionEvent, repeated: boolean): Decision {
    return decisionOf(event, { repeated, keyOf: this.#keyOf, argumentsOf: this.#argumentsOf });
  }

  #proposed(event: DecisionEvent, repeated: boolean): Proposed {
    return { decision: this.show(event, repeated), event, isSent: true };
  }

  #send(
    topic: InputTopic,
    name: ConversationName,
    value: Uint8Array,
    leftMs = this.#timeoutMs,
    headers: readonly RecordHeader[] = [],
  ): Promise<CommittedRecord> {
    const plain = this.#outgoing(topic, name, value);
    const input = headers.length === 0 ? plain : { ...plain, headers };
    // Registered before the append: the gate may answer before the append returns.
    return this.#replies.send(input, this.#link.follow(input.partition), leftMs);
  }

  #outgoing(topic: InputTopic, name: ConversationName, value: Uint8Array): OutgoingInput {
    const key = Buffer.from(conversationKey(name.tenantId, name.conversationId), "utf8");
    return { topic, partition: partitionOf(key, this.#link.log.partitions), key, value };
  }

  #committed(records: readonly CommittedRecord[], partition: number): void {
    this.#calls.committed(records, partition);
    this.#replies.committed(records);
    this.reader.committed(records);
  }

  #lost(error: CallgateError): void {
    this.#end(error);
    if (!this.#closing) this.#onLost?.(error);
  }

  #end(error: CallgateError): void {
    this.#replies.end(error);
    this.reader.end(error);
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

  /** Without an answer: a refusal if asking again is enough, else the error itself. */
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
}

function closed(): CallgateError {
  return new CallgateError("closed", "the gate is closed: open it again");
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
    `the gate could not process the input (\`${code}\`): nothing was decided, and it was stored as a dead letter`,
  );
}
