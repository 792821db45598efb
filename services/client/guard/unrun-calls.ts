/**
 * Guarded calls that nobody runs, because the gate answered too late or the caller gave up. Once
 * the gate has answered, this class reports them as not executed, so that the same call may be made
 * again. This is best effort: nobody waits for it, and it does not keep a program from ending.
 *
 * UNRUN-1 after such a report, nobody in this program runs the call.
 * UNRUN-2 if the report fails, it is sent once more when the gate gives the call up, unless
 *   somebody has begun the call by then.
 */
import type { CallAllowed, GateEvent, OutcomeUnknown } from "../../core/events.ts";
import type { CallError } from "../../core/inputs.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import type { GateClient } from "../gate-client.ts";
import { RecentMap } from "../journal/recent-map.ts";
import type { GuardClaims } from "./guard-claims.ts";

/** Beyond this, the oldest are left to the gate, which gives them an unknown outcome. */
const CALLS_MAX = 10_000;

const LATE: CallError = {
  code: "too_late",
  message: "the gate answered too late, so that nobody ran it",
  retryable: null,
};

type Asked = {
  isAskedAgain: boolean;
  /** The decision, if it was made in the meantime; null: not yet. */
  allowed: CallAllowed | null;
};

export class UnrunCalls {
  readonly #client: GateClient;
  readonly #claims: GuardClaims;
  readonly #isRunning: (decisionId: string) => boolean;
  /**
   * By call id: calls without a decision whose id no caller has, so that nobody can propose them
   * again.
   */
  readonly #calls = new RecentMap<"waits" | "asked_again" | "told">(CALLS_MAX);
  /**
   * Proposals in progress whose id no caller has. The gate may answer before the caller gets its
   * error.
   */
  readonly #asked = new Map<string, Asked>();
  /** Decisions whose call nobody has run; true if that must still be reported. */
  readonly #untold = new RecentMap<boolean>(CALLS_MAX);

  constructor(client: GateClient, claims: GuardClaims, isRunning: (decisionId: string) => boolean) {
    this.#client = client;
    this.#claims = claims;
    this.#isRunning = isRunning;
    client.onCommitted((records) => this.#committed(records));
  }

  /**
   * Call it before a call is proposed under an id that nobody else has; call `add` or `drop`
   * afterwards.
   */
  begin(callId: string): void {
    this.#asked.set(callId, { isAskedAgain: false, allowed: null });
  }

  /** The call is not run, whatever the gate decides. */
  add(callId: string): void {
    const asked = this.#asked.get(callId);
    this.#asked.delete(callId);
    this.#calls.set(callId, asked?.isAskedAgain === true ? "asked_again" : "waits");
    if (asked?.allowed != null) this.#allowed(asked.allowed);
  }

  /** The call has its answer, or was never sent. */
  drop(callId: string): void {
    this.#asked.delete(callId);
  }

  /** Somebody has learned the id, and runs the call if it is allowed. */
  askedAgain(callId: string): void {
    const asked = this.#asked.get(callId);
    if (asked !== undefined) asked.isAskedAgain = true;
    if (this.#calls.get(callId) === "waits") this.#calls.set(callId, "asked_again");
  }

  /** Nobody has run the call, and that could not be journaled. */
  keep(decisionId: string): void {
    this.#untold.set(decisionId, true);
  }

  /** Somebody may run it from now on. */
  begun(decisionId: string): void {
    if (this.#untold.get(decisionId) === true) this.#untold.set(decisionId, false);
  }

  /** UNRUN-1 */
  isReported(callId: string): boolean {
    return this.#calls.get(callId) === "told";
  }

  #committed(records: readonly CommittedRecord[]): void {
    for (const { record } of records) for (const event of record.events) this.#handleEvent(event);
  }

  #handleEvent(event: GateEvent): void {
    if (event.type === "allowed") {
      const asked = this.#asked.get(event.call.callId);
      if (asked === undefined) this.#allowed(event);
      else asked.allowed = event;
    }
    if (event.type === "outcome_unknown" && !this.#isRunning(event.decisionId)) {
      const isUnrun = this.#takeUntold(event.decisionId) || this.#claims.giveUp(event.decisionId);
      if (isUnrun) this.#tell(event);
    }
  }

  #allowed(event: CallAllowed): void {
    if (this.#calls.get(event.call.callId) !== "waits") return;
    this.#calls.set(event.call.callId, "told");
    this.#tell(event);
  }

  #tell(event: CallAllowed | OutcomeUnknown): void {
    // UNRUN-2
    this.#client.reportUnrun(event, LATE).catch(() => this.keep(event.decisionId));
  }

  /** UNRUN-2: true once. */
  #takeUntold(decisionId: string): boolean {
    if (this.#untold.get(decisionId) !== true) return false;
    this.#untold.set(decisionId, false);
    return this.#client.reader.findRecentStart(decisionId) === null;
  }
}
