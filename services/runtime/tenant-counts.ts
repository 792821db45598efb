/** How many conversations each tenant has, claims aside. */
import { isClaimKey } from "../core/state/claims.ts";

export class TenantCounts {
  readonly #counts = new Map<string, number>();
  #size = 0;

  /** Conversations of all tenants. */
  get size(): number {
    return this.#size;
  }

  of(tenantId: string): number {
    return this.#counts.get(tenantId) ?? 0;
  }

  /** @param key of a conversation, see `conversationKey`. */
  add(key: string): void {
    if (isClaimKey(key)) return;
    const tenantId = tenantOf(key);
    this.#counts.set(tenantId, this.of(tenantId) + 1);
    this.#size += 1;
  }

  remove(key: string): void {
    if (isClaimKey(key)) return;
    const tenantId = tenantOf(key);
    const left = this.of(tenantId) - 1;
    this.#size -= 1;
    if (left > 0) this.#counts.set(tenantId, left);
    else this.#counts.delete(tenantId);
  }
}

/** A tenant id contains no `/`. */
function tenantOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}
