/** The right to begin a call that others may begin, too: a `started` in the journal, before its handler runs. */
import { randomUUID } from "node:crypto";
import { claimName } from "./call-start.ts";
import type { GateClient } from "./gate-client.ts";
import type { EndedCall } from "./stored-result.ts";

export type Claim =
  | { readonly type: "granted" }
  /** It is known how it ended. */
  | { readonly type: "over"; readonly ended: EndedCall }
  /** It is too late to begin it, and nobody has: the gate has it as of unknown outcome. */
  | { readonly type: "never_begun" }
  /** By somebody, and what came of it is not known. */
  | { readonly type: "begun" };

export class GuardClaims {
  readonly #client: GateClient;

  constructor(client: GateClient) {
    this.#client = client;
  }

  /** @throws CallgateError where the gate does not answer: nothing has begun. */
  async claim(decisionId: string): Promise<Claim> {
    const outcome = await this.#client.claim(decisionId, claimName(randomUUID()));
    if (outcome.recorded) return { type: "granted" };
    const ended = await this.#client.endOf(decisionId);
    if (ended === undefined) return { type: "begun" };
    if (ended.stored.status !== "unknown") return { type: "over", ended };
    const start = await this.#client.startOf(decisionId);
    return { type: start === null ? "never_begun" : "begun" };
  }
}
