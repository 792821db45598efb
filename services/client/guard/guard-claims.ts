/**
 * The right to begin a call that others may begin, too: a `started` in the journal, before its handler runs.
 *
 * CLAIM-1 one claim is granted once at most: whoever is granted it has begun the call, as far as anybody knows.
 * CLAIM-2 a claim that got no answer may be granted later, to whoever asks next for the call in this program:
 *    nothing has run by it, and nobody else is granted one as long as it stands.
 * CLAIM-3 that nobody has begun a call without a start in the journal is known of calls alone that were decided for
 *    who claims: of one that was decided before, somebody may run it who said nothing.
 */
import { randomUUID } from "node:crypto";
import type { GateClient } from "../gate-client.ts";
import { claimName, isByGuard } from "../journal/recent-calls.ts";
import { RecentMap } from "../journal/recent-map.ts";
import type { EndedCall } from "../journal/stored-result.ts";

/** Beyond it the oldest count as used: their calls are of unknown outcome. */
const UNUSED_MAX = 10_000;

export type Claim =
  | { readonly type: "granted"; readonly name: string }
  /** It is known how it ended. */
  | { readonly type: "over"; readonly ended: EndedCall }
  /** It is too late to begin it, and nobody has: the gate has it as of unknown outcome. */
  | { readonly type: "never_begun" }
  /** By somebody, and what came of it is not known. `isGone`: not by anybody who runs it in this program now. */
  | { readonly type: "begun"; readonly isGone: boolean };

export class GuardClaims {
  readonly #client: GateClient;
  /** By the names of claims: whether nothing has run by them. */
  readonly #unused = new RecentMap<boolean>(UNUSED_MAX);
  /** Decisions of which a claim is unused or got no answer: whether they were made for who claimed without an answer. */
  readonly #unanswered = new RecentMap<boolean>(UNUSED_MAX);

  constructor(client: GateClient) {
    this.#client = client;
  }

  /**
   * @param isFirst the call was decided as it was asked for, and not before.
   * @throws CallgateError where the gate does not answer: nothing has begun.
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

  /** Nothing has run by the claim, and that could not be journaled. False: there is no claim. */
  release(decisionId: string, claim: Claim): boolean {
    if (claim.type !== "granted") return false;
    this.#unused.set(claim.name, true);
    // CLAIM-3: what is known is that nothing has run by this claim, no more.
    this.#unanswered.set(decisionId, this.#unanswered.get(decisionId) === true);
    return true;
  }

  /** Whether nobody has begun the call, and nobody begins it from now on. Of a call without a claim of ours nothing is known. */
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
    // Its own, where the log has taken it twice.
    if (start.by !== null && (start.by === name || this.#take(start.by))) {
      return { type: "granted", name: start.by };
    }
    // Runs of guards of this program are waited for before anybody claims again.
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
