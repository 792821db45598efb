import type { CallAllowed } from "../../core/events.ts";

/** All that an idempotency key depends on, and the key. */
type MadeKey = {
  readonly secret: Uint8Array;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly tool: string;
  readonly actionKey: string;
  readonly opener: string;
  readonly key: string;
};

/** More than the largest batch allows at once. */
const KEYS_MAX = 1_024;

/**
 * The keys that were made last: a gate makes one for the record that it writes, and the client in the
 * same process the same one for its answer a moment later. Asked for otherwise, it is made anew.
 */
export class RecentKeys {
  #made = new Map<string, MadeKey>();
  #before: ReadonlyMap<string, MadeKey> = new Map();

  of(secret: Uint8Array, event: CallAllowed, make: () => string): string {
    const { decisionId } = event;
    const known = this.#made.get(decisionId) ?? this.#before.get(decisionId);
    if (known !== undefined && isOf(known, secret, event)) return known.key;
    const { tenantId, conversationId, tool, actionKey, occurrence } = event;
    const opener = occurrence.decisionId;
    const key = make();
    if (this.#made.size >= KEYS_MAX) {
      this.#before = this.#made;
      this.#made = new Map();
    }
    const made = { secret, tenantId, conversationId, tool, actionKey, opener, key };
    this.#made.set(decisionId, made);
    return key;
  }
}

function isOf(made: MadeKey, secret: Uint8Array, event: CallAllowed): boolean {
  return (
    made.secret === secret &&
    made.tenantId === event.tenantId &&
    made.conversationId === event.conversationId &&
    made.tool === event.tool &&
    made.actionKey === event.actionKey &&
    made.opener === event.occurrence.decisionId
  );
}
