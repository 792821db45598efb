/**
 * Guarded calls that nobody runs, since the gate answered too late: once it has, they are told to be not executed, so
 * that the same call may be made anew. Best effort: nobody waits for it, a program that ends is not kept from that.
 *
 * U1 what is told here is run by nobody of this program afterwards.
 */
import type { GateEvent } from "../core/events.ts";
import type { CallError } from "../core/inputs.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type { GateClient } from "./gate-client.ts";
import type { GuardClaims } from "./guard-claims.ts";
import { RecentMap } from "./recent-map.ts";

/** Beyond it the oldest are left: the gate tells them to be of unknown outcome. */
const CALLS_MAX = 10_000;

const LATE: CallError = {
  code: "too_late",
  message: "the gate answered too late, so that nobody ran it",
  retryable: null,
};

export class UnrunCalls {
  readonly #client: GateClient;
  readonly #claims: GuardClaims;
  readonly #isRunning: (decisionId: string) => boolean;
  /** Without a decision, and without a name that they could be asked for again by. By call id. */
  readonly #calls = new RecentMap<"waits" | "asked_again" | "told">(CALLS_MAX);

  constructor(client: GateClient, claims: GuardClaims, isRunning: (decisionId: string) => boolean) {
    this.#client = client;
    this.#claims = claims;
    this.#isRunning = isRunning;
    client.onCommitted((records) => this.#committed(records));
  }

  /** The call got no decision in time, and nobody knows its id. */
  add(callId: string): void {
    this.#calls.set(callId, "waits");
  }

  /** Somebody has kept the id from its refusal, and runs it if it may run. */
  askedAgain(callId: string): void {
    if (this.#calls.get(callId) === "waits") this.#calls.set(callId, "asked_again");
  }

  /** U1 */
  isTold(callId: string): boolean {
    return this.#calls.get(callId) === "told";
  }

  #committed(records: readonly CommittedRecord[]): void {
    for (const { record } of records) for (const event of record.events) this.#met(event);
  }

  #met(event: GateEvent): void {
    if (event.type === "allowed" && this.#calls.get(event.callId) === "waits") {
      this.#calls.set(event.callId, "told");
      this.#client.tellUnrun(event, LATE);
    }
    if (event.type === "outcome_unknown" && !this.#isRunning(event.decisionId)) {
      if (this.#claims.giveUp(event.decisionId)) this.#client.tellUnrun(event, LATE);
    }
  }
}
