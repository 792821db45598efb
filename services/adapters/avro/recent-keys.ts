import type { CallAllowed } from "../../core/events.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

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

/** Digits of a decision id that choose its place. */
const PLACE_DIGITS = 3;
/** More than the largest batch allows at once, several times over: two at one place are rare. */
const PLACES = 16 ** PLACE_DIGITS;

/**
 * The keys that were made last: a gate makes one for the record that it writes, and the client in the
 * same process the same one for its answer a moment later. Each decision id has one place, which the
 * next with that place takes over. Asked for otherwise, a key is made anew.
 */
export class RecentKeys {
  readonly #made: (MadeKey | undefined)[] = new Array(PLACES).fill(undefined);

  of(secret: Uint8Array, event: CallAllowed, make: () => string): string {
    const place = placeOf(event.decisionId);
    const known = this.#made[place];
    if (known !== undefined && isOf(known, secret, event)) return known.key;
    const { tenantId, conversationId, tool, actionKey, occurrence } = event;
    const opener = occurrence.decisionId;
    const key = make();
    this.#made[place] = { secret, tenantId, conversationId, tool, actionKey, opener, key };
    return key;
  }
}

/** The id is a digest in hex: its first digits are as good as any hash of it. */
function placeOf(decisionId: string): number {
  let place = 0;
  for (let at = 0; at < PLACE_DIGITS; at += 1) {
    const unit = charCodeAt.call(decisionId, at);
    place = place * 16 + ((unit > 0x39 ? unit - 0x57 : unit - 0x30) & 0xf);
  }
  return place;
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
