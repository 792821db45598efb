/**
 * The right to begin a call that others may begin, too: a `started` record in the journal, written
 * before the handler runs.
 *
 * CLAIM-1 a claim is granted at most once: whoever holds it counts as having begun the call.
 * CLAIM-2 a claim that got no answer may be granted later, to the next caller in this program.
 *   Nothing has run by it, and nobody else is granted one while it is in force.
 * CLAIM-3 a missing start proves that nobody has begun the call only if the call was decided for
 *   this claimant. A call that was decided before may be running in a process that recorded no
 *   start.
 */
import { randomUUID } from "node:crypto";
import type { GateClient } from "../gate-client.ts";
import { claimName, isByGuard } from "../journal/recent-calls.ts";
import { RecentMap } from "../journal/recent-map.ts";
import type { EndedCall } from "../journal/stored-result.ts";

/** Beyond this, the oldest claims count as used: their calls get an unknown outcome. */
const UNUSED_MAX = 10_000;

export type Claim =
  | { readonly type: "granted"; readonly name: string }
  /** The outcome is recorded. */
  | { readonly type: "over"; readonly ended: EndedCall }
  /** It is too late to begin the call, and nobody has: for the gate its outcome is unknown. */
  | { readonly type: "never_begun" }
  /**
   * Somebody began the call, and its outcome is not recorded. `isGone`: nobody in this program runs
   * it now.
   */
  | { readonly type: "begun"; readonly isGone: boolean };

export class GuardClaims {
  readonly #client: GateClient;
  /** Claims by name that were granted and by which nothing has run. */
  readonly #unused = new RecentMap<boolean>(UNUSED_MAX);
  /**
   * Decisions with an unused or unanswered claim; true if the decision was made for the claimant
   * who got no answer.
   */
  readonly #unanswered = new RecentMap<boolean>(UNUSED_MAX);

  constructor(client: GateClient) {
    this.#client = client;
  }

  /**
   * @param isFirst the decision answered this very proposal rather than an earlier one.
   * @throws CallgateError if the gate does not answer: nothing has begun.
   */
  async claim(decisionId: string, isFirst: boolean): Promise<Claim> {
    const name = claimName(randomUUID());
    try {
      return await this.#claim(decisionId, name, isFirst);
    } catch (error) {
      this.#unused.set(name, true);
      this.#unanswered.set(decisionId, isFirst || this.#unanswered.get(decisionId) === true);
      throw error;
    }
  }

  /**
   * Returns a claim by which nothing has run, if that could not be journaled. False: there is no
   * claim.
   */
  release(decisionId: string, claim: Claim): boolean {
    if (claim.type !== "granted") return false;
    this.#unused.set(claim.name, true);
    // CLAIM-3: this only proves that nothing has run by this claim.
    this.#unanswered.set(decisionId, this.#unanswered.get(decisionId) === true);
    return true;
  }

  /**
   * Gives the call up and returns whether nobody has begun it. Without a claim of ours the answer
   * is false.
   */
  giveUp(decisionId: string): boolean {
    const isFirst = this.#unanswered.get(decisionId);
    if (isFirst === undefined) return false;
    const start = this.#client.reader.findRecentStart(decisionId);
    if (start === undefined) return false;
    return (start === null && isFirst) || (start?.by != null && this.#take(start.by));
  }

  async #claim(decisionId: string, name: string, isFirst: boolean): Promise<Claim> {
    const time = this.#client.timeFor(decisionId);
    const outcome = await this.#client.claim(decisionId, name, time);
    if (outcome.recorded) return { type: "granted", name };
    const ended = await this.#client.reader.endOf(decisionId, time);
    if (ended !== undefined && ended.stored.status !== "unknown") return { type: "over", ended };
    const start = await this.#client.reader.startOf(decisionId, time);
    if (start === null) {
      const neverBegun = isFirst && ended !== undefined;
      return neverBegun ? { type: "never_begun" } : { type: "begun", isGone: false };
    }
    // Our own claim, if the log has appended it twice.
    if (start.by !== null && (start.by === name || this.#take(start.by))) {
      return { type: "granted", name: start.by };
    }
    // A guard of this program finishes its runs before it claims again.
    return {
      type: "begun",
      isGone: isByGuard(start) || this.#client.reader.isBeforeOpening(start),
    };
  }

  /** CLAIM-1 */
  #take(name: string): boolean {
    if (this.#unused.get(name) !== true) return false;
    this.#unused.set(name, false);
    return true;
  }
}
