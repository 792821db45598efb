/**
 * Tools that ask the gate before they run.
 *
 * GUARD-1 a handler runs only for an allowed decision, and within this process once per decision at
 *   a time.
 * GUARD-2 a write whose call id others may use again is claimed in the journal before its handler
 *   runs; whoever finds it claimed does not run it. A read may run again.
 * GUARD-3 a guarded tool answers when its result is journaled.
 */
import { randomUUID } from "node:crypto";
import { allowManyListeners } from "../../adapters/system/many-listeners.ts";
import type { CallAllowed } from "../../core/events.ts";
import { conversationKey } from "../../runtime/partitioner.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type {
  AnswerForm,
  CallOptions,
  Decision,
  GuardContext,
  ProposedCall,
  ReportOutcome,
} from "../api/gate-types.ts";
import { refusedOf } from "../api/refused.ts";
import {
  type ExecutableCall,
  type Execution,
  type Executor,
  type Handler,
  NotClaimedError,
  NotRecordedError,
  type StreamReader,
  stepName,
} from "../calls/run-call.ts";
import type { GateClient, Proposed } from "../gate-client.ts";
import type { CallReport } from "../inputs/report.ts";
import {
  answerEnded,
  answerExecution,
  answerRefused,
  answerUnrecorded,
  type DecidedCall,
  refusalOrUnavailable,
  refuseKeyless,
  refuseRun,
  refuseUnrun,
} from "./answer-call.ts";
import { type Claim, GuardClaims } from "./guard-claims.ts";
import { presentAnswer, presentError } from "./present-answer.ts";
import { SharedRuns } from "./shared-run.ts";
import { UnrunCalls } from "./unrun-calls.ts";

type IdentifiedCall = ProposedCall & { readonly callId: string };

/** One call through the gate. */
type GuardedCall = {
  readonly call: IdentifiedCall;
  readonly context: GuardContext;
  readonly handler: Handler;
  /** The caller chose the call id, or an approval id, so it may propose the call again. */
  readonly hasName: boolean;
};

/** How a guarded tool answers, and who hears of the gate's answer first. */
export type GuardForm = {
  readonly answers?: AnswerForm | undefined;
  readonly onAnswer?: ((proposed: Proposed, call: ProposedCall) => void) | undefined;
};

export class Guard {
  readonly #client: GateClient;
  readonly #executor: Executor;
  readonly #claims: GuardClaims;
  readonly #unrun: UnrunCalls;
  /** Whether no other program runs calls of this gate. */
  readonly #isAlone: boolean;
  readonly #runs = new SharedRuns();

  constructor(client: GateClient, executor: Executor, isAlone: boolean) {
    this.#client = client;
    this.#executor = executor;
    this.#claims = new GuardClaims(client);
    this.#unrun = new UnrunCalls(client, this.#claims, (id) => this.#runs.has(id));
    this.#isAlone = isAlone;
  }

  /** @throws what the handler threw; CallgateError `invalid_input`, `time_limit`, `result_not_recorded`. */
  async call(
    tool: string,
    handler: Handler,
    args: object | string | undefined,
    callContext: GuardContext & CallOptions,
    { answers = "noted", onAnswer }: GuardForm = {},
  ): Promise<unknown> {
    const { callId, signal, onHeld: _onHeld, ...proposal } = callContext;
    checkSignal(signal);
    const guarded: GuardedCall = {
      call: { ...proposal, callId: callId ?? randomUUID(), tool, arguments: args ?? {} },
      context: callContext,
      handler,
      hasName: callId !== undefined || callContext.approvalId !== undefined,
    };
    const proposed = await this.#asked(guarded);
    const { decision, event } = proposed;
    onAnswer?.(proposed, guarded.call);
    try {
      return presentAnswer(await this.#answered(guarded, decision, event), decision, answers);
    } catch (error) {
      presentError(error, decision);
      throw error;
    }
  }

  async #answered(
    guarded: GuardedCall,
    decision: Decision,
    event: Proposed["event"],
  ): Promise<unknown> {
    if (event?.type === "allowed") return this.#once(guarded, decision, event);
    return answerRefused(decision, event?.type === "refused" ? event : null);
  }

  /**
   * If nobody else can propose the call and its caller gets no decision, it certainly does not run.
   */
  async #asked(guarded: GuardedCall): Promise<Proposed> {
    const { callId } = guarded.call;
    if (guarded.hasName) {
      this.#unrun.askedAgain(callId);
      return await this.#decide(guarded);
    }
    this.#unrun.begin(callId);
    try {
      const proposed = await this.#decide(guarded);
      if (proposed.event === null && proposed.isSent) this.#unrun.add(callId);
      else this.#unrun.drop(callId);
      return proposed;
    } catch (error) {
      if (guarded.context.signal?.aborted === true) this.#unrun.add(callId);
      else this.#unrun.drop(callId);
      throw error;
    }
  }

  async #decide(guarded: GuardedCall): Promise<Proposed> {
    const { call, context } = guarded;
    let held: Proposed | undefined;
    try {
      const proposed = await this.#client.propose(call);
      const { decision } = proposed;
      if (decision.outcome !== "held" || context.onHeld !== "wait") return proposed;
      held = proposed;
      const { signal } = context;
      const wait = signal === undefined ? {} : { signal };
      return await this.#client.awaitDecision(decision.decisionId, wait);
    } catch (error) {
      if (context.signal?.aborted === true) throw error;
      if (error instanceof CallgateError && error.code === "invalid_input") throw error;
      // The call is still held and may be approved: proposed again under its id, it runs.
      return held ?? this.#client.unavailableFor(call, error);
    }
  }

  #once(guarded: GuardedCall, decision: Decision, event: CallAllowed): Promise<unknown> {
    return this.#runs.join({
      decisionId: event.decisionId,
      signal: guarded.context.signal,
      run: (signal, reader) => this.#run(guarded, decision, event, signal, reader),
      whileStreamed: () => refuseRun(this.#decided(guarded, decision), "duplicate_in_flight"),
    });
  }

  /** @param signal aborts when all callers that wait for the run have given up. */
  async #run(
    guarded: GuardedCall,
    decision: Decision,
    event: CallAllowed,
    signal: AbortSignal,
    reader: StreamReader,
  ): Promise<unknown> {
    const call = executableCall(decision, event);
    const repeatable = guarded.hasName || decision.repeated || event.approval.approvalId !== null;
    if (call === null) return this.#endKeyless(guarded, decision, repeatable);
    if (this.#unrun.isReported(event.call.callId))
      return refuseUnrun(this.#decided(guarded, decision));
    this.#unrun.begun(call.decisionId);
    let claimed: Claim = NO_CLAIM;
    const claim = async (): Promise<boolean> => {
      claimed = await this.#claims.claim(call.decisionId, !decision.repeated);
      return claimed.type === "granted";
    };
    const options = {
      signal,
      claim: repeatable && !event.policy.isRead ? claim : undefined,
      reader,
    };
    let execution: Execution;
    try {
      execution = await this.#executor.run(call, guarded.handler, options);
    } catch (error) {
      if (isUnrun(error)) this.#keepUnrun(call.decisionId, claimed, repeatable);
      // After any other error the tool may have run.
      if (!(error instanceof NotClaimedError)) {
        return answerUnrecorded(error, this.#decided(guarded, decision));
      }
      if (signal.aborted) throw signal.reason;
      const proposed = this.#client.unavailableFor(guarded.call, error.cause).decision;
      return refusedOf(proposed, refusalOrUnavailable(proposed));
    }
    if (execution.type === "not_claimed") return this.#answerUnclaimed(guarded, decision, claimed);
    return answerExecution(execution, this.#decided(guarded, decision));
  }

  /** Remembers that the call has not run, which could not be journaled. */
  #keepUnrun(decisionId: string, claim: Claim, repeatable: boolean): void {
    const isReleased = this.#claims.release(decisionId, claim);
    if (!isReleased && !repeatable) this.#unrun.keep(decisionId);
  }

  /**
   * The call was decided under a secret that this program does not have. If nobody else can have
   * begun it, it is reported as over.
   */
  async #endKeyless(guarded: GuardedCall, decision: Decision, repeatable: boolean) {
    if (!repeatable) {
      const { decisionId = "" } = decision;
      const error = { code: "secret", message: "the program that asked has another secret" };
      const outcome = await this.#report(decisionId, { status: "not_executed", error });
      if (outcome === undefined) this.#unrun.keep(decisionId);
    }
    return refuseKeyless(this.#decided(guarded, decision));
  }

  async #answerUnclaimed(guarded: GuardedCall, decision: Decision, claim: Claim): Promise<unknown> {
    switch (claim.type) {
      case "over":
        return answerEnded(claim.ended, this.#decided(guarded, decision));
      case "never_begun":
        return this.#endNeverBegun(guarded, decision);
      case "granted":
      case "begun":
        return this.#refuseBegun(guarded, decision, claim.type === "begun" && claim.isGone);
    }
  }

  /**
   * The call was begun elsewhere, by a process that is gone, or by this program. It may still run;
   * the gate ends it by itself when its time is over.
   */
  async #refuseBegun(guarded: GuardedCall, decision: Decision, isGone: boolean): Promise<unknown> {
    if (isGone && this.#isAlone) {
      const error = { message: "the process that started it is gone" };
      await this.#report(decision.decisionId ?? "", { status: "unknown", error });
    }
    return refuseRun(this.#decided(guarded, decision), "outcome_unknown");
  }

  /** The call waited for its turn until its time was over. */
  async #endNeverBegun(guarded: GuardedCall, decision: Decision): Promise<unknown> {
    const { decisionId = "" } = decision;
    const error = { code: "too_late", message: "not started in time" };
    const outcome = await this.#report(decisionId, { status: "not_executed", error });
    // Somebody has reported its end in the meantime.
    const time = this.#client.timeFor(decisionId);
    const ended =
      outcome?.recorded === false ? await this.#client.reader.endOf(decisionId, time) : undefined;
    const call = this.#decided(guarded, decision);
    return ended === undefined ? refuseUnrun(call) : answerEnded(ended, call);
  }

  /** Writes the report for the journal; the answer is the same without it. */
  async #report(decisionId: string, report: CallReport): Promise<ReportOutcome | undefined> {
    try {
      return await this.#client.report(decisionId, report);
    } catch {
      return undefined;
    }
  }

  #decided({ hasName }: GuardedCall, decision: Decision): DecidedCall {
    return { decision, hasName, policy: this.#client.policyRevision };
  }
}

function isUnrun(error: unknown): boolean {
  return error instanceof NotRecordedError && error.execution.type === "not_executed";
}

/**
 * @throws CallgateError `invalid_input` before the call is proposed: an allowed call with a bad
 *   signal would neither run nor be reported.
 */
function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  if (signal instanceof AbortSignal) {
    allowManyListeners(signal);
    return;
  }
  const hint = signal instanceof AbortController ? ": pass its `.signal`" : "";
  throw new CallgateError("invalid_input", `\`signal\` must be an AbortSignal${hint}`);
}

const NO_CLAIM: Claim = { type: "begun", isGone: false };

/** Null if the key cannot be derived: the call was decided under another secret. */
function executableCall(decision: Decision, event: CallAllowed): ExecutableCall | null {
  const { idempotencyKey } = decision;
  if (idempotencyKey === undefined) return null;
  const {
    decisionId,
    call: { callId, tool },
    policy: { isRead },
    notAfterMs,
    timeLimitMs,
  } = event;
  return {
    ...{ decisionId, callId, tool, isRead, notAfterMs, timeLimitMs, idempotencyKey },
    conversation: conversationKey(event.tenantId, event.conversationId),
    step: stepName(event.call.turn, event.call.step),
    arguments: decision.arguments ?? {},
  };
}
