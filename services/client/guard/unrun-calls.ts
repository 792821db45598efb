/**
 * Guarded calls that nobody runs, since the gate answered too late or its caller has given up: once it has answered, they
 * are told to be not executed, so that the same call may be made anew. Best effort: nobody waits for it, a program that
 * ends is not kept from that.
 *
 * UNRUN-1 what is told here is run by nobody of this program afterwards.
 * UNRUN-2 what could not be told is told once more when the gate gives the call up, where nobody has begun it meanwhile.
 */
import type { CallAllowed, GateEvent, OutcomeUnknown } from "../../core/events.ts";
import type { CallError } from "../../core/inputs.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import type { GateClient } from "../gate-client.ts";
import { RecentMap } from "../journal/recent-map.ts";
import type { GuardClaims } from "./guard-claims.ts";

/** Beyond it the oldest are left: the gate tells them to be of unknown outcome. */
const CALLS_MAX = 10_000;

const LATE: CallError = {
  code: "too_late",
  message: "the gate answered too late, so that nobody ran it",
  retryable: null,
};

type Asked = {
  isAskedAgain: boolean;
  /** Decided meanwhile; null: not yet. */
  allowed: CallAllowed | null;
};

export class UnrunCalls {
  readonly #client: GateClient;
  readonly #claims: GuardClaims;
  readonly #isRunning: (decisionId: string) => boolean;
  /** Without a decision, and without a name that they could be asked for again by. By call id. */
  readonly #calls = new RecentMap<"waits" | "asked_again" | "told">(CALLS_MAX);
  /** Under way without a name. The gate may be faster than the error that their callers get. */
  readonly #asked = new Map<string, Asked>();
  /** Decisions of calls that nobody has run, whether that is still to be told. */
  readonly #untold = new RecentMap<boolean>(CALLS_MAX);

  constructor(client: GateClient, claims: GuardClaims, isRunning: (decisionId: string) => boolean) {
    this.#client = client;
    this.#claims = claims;
    this.#isRunning = isRunning;
    client.onCommitted((records) => this.#committed(records));
  }

  /** To be called before a call is proposed under an id that nobody knows, and `add` or `drop` once it has ended. */
  begin(callId: string): void {
    this.#asked.set(callId, { isAskedAgain: false, allowed: null });
  }

  /** It is not run, whatever the gate decides of it. */
  add(callId: string): void {
    const asked = this.#asked.get(callId);
    this.#asked.delete(callId);
    this.#calls.set(callId, asked?.isAskedAgain === true ? "asked_again" : "waits");
    if (asked?.allowed != null) this.#allowed(asked.allowed);
  }

  /** It has its answer, or was never sent. */
  drop(callId: string): void {
    this.#asked.delete(callId);
  }

  /** Somebody has learned of the id, and runs it if it may run. */
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
