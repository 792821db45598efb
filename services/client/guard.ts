/**
 * Tools that ask the gate before they run.
 *
 * G1 a handler runs for an allowed decision alone, and within this process once for each decision at a time.
 * G2 a write whose call id others may use again is claimed in the journal before its handler runs: who
 *    finds it claimed does not run it. A read may run again.
 * G3 an answer is given when its result is journaled.
 */
import { randomUUID } from "node:crypto";
import { allowManyListeners } from "../adapters/system/many-listeners.ts";
import type { CallAllowed } from "../core/events.ts";
import { conversationKey } from "../runtime/partitioner.ts";
import type { CallReport } from "./call-report.ts";
import { CallgateError } from "./callgate-error.ts";
import { notRun } from "./decision-view.ts";
import type { GateClient, Proposed } from "./gate-client.ts";
import type {
  CallOptions,
  CallRefusal,
  Decision,
  GuardContext,
  GuardOptions,
  ProposedCall,
  ReportOutcome,
} from "./gate-types.ts";
import { EarlierOutput, earlierOutputOf, presentAnswer, presentError } from "./guard-answers.ts";
import { type Claim, GuardClaims } from "./guard-claims.ts";
import {
  brokenOff,
  endOf,
  failureOf,
  NOT_EXECUTED,
  OTHER_SECRET,
  timeLimit,
} from "./guard-ends.ts";
import { refusedOf } from "./refused.ts";
import {
  type ExecutableCall,
  type Execution,
  type Executor,
  type Handler,
  NotClaimedError,
  NotRecordedError,
  type StreamReader,
  stepName,
} from "./run-call.ts";
import { SharedRun } from "./shared-run.ts";
import type { EndedCall } from "./stored-result.ts";
import { UnrunCalls } from "./unrun-calls.ts";

type NamedCall = ProposedCall & { readonly callId: string };

/** One call through the gate. */
type GuardedCall = {
  readonly call: NamedCall;
  readonly context: GuardContext;
  readonly handler: Handler;
  /** The caller named it, or its approval, so it may be proposed again. */
  readonly named: boolean;
};

export class Guard {
  readonly #client: GateClient;
  readonly #executor: Executor;
  readonly #claims: GuardClaims;
  readonly #unrun: UnrunCalls;
  /** No other program runs calls of this gate. */
  readonly #isAlone: boolean;
  /** Answers under way, by decision. */
  readonly #running = new Map<string, SharedRun>();
  /** Runs whose answer is a generator that its caller reads, by decision: until they end. */
  readonly #streaming = new Map<string, Promise<unknown>>();

  constructor(client: GateClient, executor: Executor, isAlone: boolean) {
    this.#client = client;
    this.#executor = executor;
    this.#claims = new GuardClaims(client);
    this.#unrun = new UnrunCalls(client, this.#claims, (id) => this.#running.has(id));
    this.#isAlone = isAlone;
  }

  /** @throws what the handler threw; CallgateError `invalid_input`, `time_limit`, `result_not_recorded`. */
  async call(
    tool: string,
    handler: Handler,
    args: object | string | undefined,
    given: GuardContext & CallOptions,
    { answers = "noted", onDecision }: GuardOptions = {},
  ): Promise<unknown> {
    const { callId, signal, onHeld: _onHeld, ...named } = given;
    checkSignal(signal);
    const guarded: GuardedCall = {
      call: { ...named, callId: callId ?? randomUUID(), tool, arguments: args ?? {} },
      context: given,
      handler,
      named: callId !== undefined || given.approvalId !== undefined,
    };
    const { decision, event } = await this.#asked(guarded);
    onDecision?.(decision);
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
    const earlier = event?.type === "refused" ? earlierOutputOf(event) : null;
    return earlier ?? refusedOf(decision, refusalOf(decision));
  }

  /** Of a call that nobody else can ask for it is known that it does not run where its caller gets no decision. */
  async #asked(guarded: GuardedCall): Promise<Proposed> {
    const { callId } = guarded.call;
    if (guarded.named) {
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
      // It is held still, and may be approved: asked for again under its id it runs.
      return held ?? this.#client.unavailableFor(call, error);
    }
  }

  async #once(guarded: GuardedCall, decision: Decision, event: CallAllowed): Promise<unknown> {
    const { signal } = guarded.context;
    const known = this.#running.get(event.decisionId);
    if (known === undefined) {
      const run: SharedRun = new SharedRun((given) =>
        this.#run(guarded, decision, event, given, (reason) => run.abandon(reason)),
      );
      this.#running.set(event.decisionId, run);
      const answer = run.join(signal);
      void run.ended().then(() => this.#forget(event.decisionId));
      return await answer;
    }
    if (this.#streaming.has(event.decisionId)) {
      return refusedOf(decision, this.#notRun(decision, "duplicate_in_flight"));
    }
    if (!known.isGivenUp) return await known.join(signal);
    // It ends as those want who gave it up, for their reasons.
    await known.ended();
    return await this.#once(guarded, decision, event);
  }

  async #forget(decisionId: string): Promise<void> {
    await this.#streaming.get(decisionId);
    this.#streaming.delete(decisionId);
    this.#running.delete(decisionId);
  }

  /** Answers with a generator as soon as the handler gives one, else when the call has ended. */
  async #run(
    guarded: GuardedCall,
    decision: Decision,
    event: CallAllowed,
    signal: AbortSignal,
    abandon: (reason: unknown) => void,
  ): Promise<unknown> {
    const { signal: own } = guarded.context;
    return await new Promise((resolve, reject) => {
      const take: StreamReader["take"] = (stream) => {
        this.#streaming.set(event.decisionId, Promise.allSettled([ended]));
        own?.addEventListener("abort", () => abandon(own.reason), { once: true });
        resolve(stream);
      };
      const reader = { take, recorded: () => ended };
      const ended = this.#runToEnd(guarded, decision, event, signal, reader);
      ended.then(resolve, reject);
    });
  }

  /** @param signal of all who wait for it. */
  async #runToEnd(
    guarded: GuardedCall,
    decision: Decision,
    event: CallAllowed,
    signal: AbortSignal,
    reader: StreamReader,
  ): Promise<unknown> {
    const call = executableCall(decision, event);
    const repeatable = guarded.named || decision.repeated || event.approval.approvalId !== null;
    if (call === null) return this.#keyless(decision, event, repeatable);
    if (this.#unrun.isTold(event.call.callId)) return this.#notExecuted(guarded, decision);
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
      if (isUnrun(error)) this.#untold(call.decisionId, claimed, repeatable);
      // Whatever else it is, the tool may have run.
      if (!(error instanceof NotClaimedError)) return this.#unrecorded(error, guarded, decision);
      if (signal.aborted) throw signal.reason;
      const proposed = this.#client.unavailableFor(guarded.call, error.cause).decision;
      return refusedOf(proposed, refusalOf(proposed));
    }
    if (execution.type === "not_claimed") return this.#notClaimed(guarded, decision, claimed);
    return this.#answer(execution, guarded, decision);
  }

  /** It has not run, and that could not be journaled. */
  #untold(decisionId: string, claim: Claim, repeatable: boolean): void {
    const isReleased = this.#claims.release(decisionId, claim);
    if (!isReleased && !repeatable) this.#unrun.keep(decisionId);
  }

  /** Decided under a secret that this program does not have. What nobody else can have begun is told to be over. */
  async #keyless(decision: Decision, event: CallAllowed, repeatable: boolean): Promise<unknown> {
    if (!repeatable) {
      const error = { code: "secret", message: "the program that asked has another secret" };
      const told = await this.#tell(event.decisionId, { status: "not_executed", error });
      if (told === undefined) this.#unrun.keep(event.decisionId);
    }
    const refusal = this.#notRun(decision, "gate_unavailable");
    return refusedOf(decision, { ...refusal, message: OTHER_SECRET });
  }

  #answer(execution: Execution, guarded: GuardedCall, decision: Decision): unknown {
    switch (execution.type) {
      case "succeeded":
        return execution.value;
      case "failed":
        throw execution.error;
      case "unknown":
        if (execution.why === "aborted") throw execution.reason;
        throw execution.why === "closed" ? brokenOff(decision) : timeLimit(decision);
      case "not_executed":
        if (execution.why === "aborted") throw execution.reason;
        return this.#notExecuted(guarded, decision, execution.why);
      case "not_claimed":
        return refusedOf(decision, this.#notRun(decision, "outcome_unknown"));
    }
  }

  /** Under a name it is over; a call without one has another id the next time. */
  #notExecuted({ named }: GuardedCall, decision: Decision, why = "too_late"): unknown {
    const refusal = this.#notRun(decision, "gate_unavailable");
    const message = named ? NOT_EXECUTED : refusal.message;
    const detail = why === "closed" ? "closed" : "timeout";
    return refusedOf(decision, { ...refusal, detail, message });
  }

  async #notClaimed(guarded: GuardedCall, decision: Decision, claim: Claim): Promise<unknown> {
    switch (claim.type) {
      case "over":
        return this.#answerAgain(guarded, decision, claim.ended);
      case "never_begun":
        return this.#neverBegun(guarded, decision);
      case "granted":
      case "begun":
        return this.#begun(decision, claim.type === "begun" && claim.isGone);
    }
  }

  /**
   * By a process that is gone, or elsewhere, or by this program's own hand: there it may run still, and the gate says by
   * itself when its time is over.
   */
  async #begun(decision: Decision, isGone: boolean): Promise<unknown> {
    if (isGone && this.#isAlone) {
      const message = "the process that started it is gone";
      await this.#tell(decision.decisionId ?? "", {
        status: "unknown",
        error: { message },
      });
    }
    return refusedOf(decision, this.#notRun(decision, "outcome_unknown"));
  }

  /** It waited for its turn until its time was over. */
  async #neverBegun(guarded: GuardedCall, decision: Decision): Promise<unknown> {
    const { decisionId = "" } = decision;
    const error = { code: "too_late", message: "not started in time" };
    const told = await this.#tell(decisionId, { status: "not_executed", error });
    // Somebody has told how it ended meanwhile.
    const time = this.#client.timeFor(decisionId);
    const ended = told?.recorded === false ? await this.#client.endOf(decisionId, time) : undefined;
    if (ended === undefined) return this.#notExecuted(guarded, decision);
    return this.#answerAgain(guarded, decision, ended);
  }

  /** As the call ended, so far as the journal has it. */
  #answerAgain(guarded: GuardedCall, decision: Decision, { stored, returned }: EndedCall): unknown {
    if (stored.status === "not_executed") return this.#notExecuted(guarded, decision);
    if (stored.status === "unknown") {
      return refusedOf(decision, this.#notRun(decision, "outcome_unknown"));
    }
    // An output that says that the call failed was returned by the handler, too.
    if (stored.whole && returned) return new EarlierOutput(stored.output, null);
    if (stored.status === "failed") throw failureOf(stored);
    // What it gave is not known, or not all of it: but that it ran is.
    return refusedOf(decision, this.#notRun(decision, "duplicate_call"));
  }

  #unrecorded(error: unknown, guarded: GuardedCall, decision: Decision): unknown {
    const isKnown = error instanceof NotRecordedError;
    const { execution, cause } = isKnown ? error : { execution: NOT_KNOWN, cause: error };
    if (execution.type === "not_executed") return this.#answer(execution, guarded, decision);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CallgateError(
      "result_not_recorded",
      `\`${decision.tool}\` ran, and its result could not be recorded: ${why}; the gate counts the ` +
        "call as under way until it is reported or reconciled",
      { cause, ...endOf(execution) },
    );
  }

  /** For the journal: the answer is the same without. */
  async #tell(decisionId: string, report: CallReport): Promise<ReportOutcome | undefined> {
    try {
      return await this.#client.report(decisionId, report);
    } catch {
      return undefined;
    }
  }

  #notRun(decision: Decision, reason: CallRefusal["reason"]): CallRefusal {
    return notRun(decision, reason, this.#client.policyRevision);
  }
}

function refusalOf(decision: Decision): CallRefusal {
  return decision.refusal ?? notRun(decision, "gate_unavailable", "");
}

function isUnrun(error: unknown): boolean {
  return error instanceof NotRecordedError && error.execution.type === "not_executed";
}

/** @throws CallgateError `invalid_input`: found once the call is allowed, it would be neither run nor reported. */
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

/** What came of it, where the executor itself failed. */
const NOT_KNOWN: Execution = { type: "unknown", why: "aborted", reason: undefined };

/** Null where the key cannot be made: the call was decided under another secret. */
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
