/**
 * How much of a batch one conversation and one tenant may take while others wait.
 *
 * FAIR-1 a conversation keeps its order: once it has had its share of a batch, none of its later
 *    inputs is taken before those that were passed over.
 */
import type { LogRecord } from "./ports.ts";

/** A batch has room for at least so many conversations, and for so many tenants. */
const CONVERSATIONS_MIN = 4;
const TENANTS_MIN = 2;

/** How many inputs of a tenant, or of one of its conversations, wait and are in the batch. */
class Party {
  waiting = 0;
  inBatch = 0;
}

/** The conversation of an input as its key names it; inputs without a key are one conversation. */
export type Sender = { readonly conversation: Party; readonly tenant: Party };

const SLASH = 0x2f;

export class FairShares {
  readonly #conversationMax: number;
  readonly #tenantMax: number;
  readonly #senders = new Map<string, Sender>();
  readonly #tenants = new Map<string, Party>();

  /** @param inputsMax size of a batch. */
  constructor(inputsMax: number) {
    this.#conversationMax = Math.ceil(inputsMax / CONVERSATIONS_MIN);
    this.#tenantMax = Math.ceil(inputsMax / TENANTS_MIN);
  }

  /** Notes that an input waits. */
  add({ key }: LogRecord): Sender {
    const name = key === null ? "" : latin1(key);
    let sender = this.#senders.get(name);
    if (sender === undefined) {
      sender = { conversation: new Party(), tenant: this.#tenantOf(key, name) };
      this.#senders.set(name, sender);
    }
    sender.conversation.waiting += 1;
    sender.tenant.waiting += 1;
    return sender;
  }

  #tenantOf(key: Uint8Array | null, name: string): Party {
    const slash = key?.indexOf(SLASH) ?? -1;
    const tenantName = slash < 0 ? name : name.slice(0, slash);
    const existing = this.#tenants.get(tenantName);
    if (existing !== undefined) return existing;
    const tenant = new Party();
    this.#tenants.set(tenantName, tenant);
    return tenant;
  }

  /** Begins a batch, and forgets who waits no more. */
  beginBatch(): void {
    for (const [name, { conversation }] of this.#senders) {
      conversation.inBatch = 0;
      if (conversation.waiting === 0) this.#senders.delete(name);
    }
    for (const [name, tenant] of this.#tenants) {
      tenant.inBatch = 0;
      if (tenant.waiting === 0) this.#tenants.delete(name);
    }
  }

  /** Whether an input belongs to its sender's share of the batch; counts it if so. */
  admit({ conversation, tenant }: Sender): boolean {
    if (conversation.inBatch >= this.#conversationMax || tenant.inBatch >= this.#tenantMax) {
      return false;
    }
    conversation.inBatch += 1;
    tenant.inBatch += 1;
    return true;
  }

  /** Notes that an input waits no more. */
  remove({ conversation, tenant }: Sender): void {
    conversation.waiting -= 1;
    tenant.waiting -= 1;
  }

  /** How many of the inputs that wait fit into the shares of one batch. */
  get fitting(): number {
    const ofTenants = new Map<Party, number>();
    for (const { conversation, tenant } of this.#senders.values()) {
      const fitting = Math.min(conversation.waiting, this.#conversationMax);
      ofTenants.set(tenant, (ofTenants.get(tenant) ?? 0) + fitting);
    }
    let sum = 0;
    for (const fitting of ofTenants.values()) sum += Math.min(fitting, this.#tenantMax);
    return sum;
  }
}

/** A text that is equal where the bytes are; decoding UTF-8 takes longer. */
function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}
