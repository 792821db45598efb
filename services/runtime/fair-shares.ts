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

/** Inputs of a tenant, or of one of its conversations. */
class Party {
  waiting = 0;
  /** How many of those that wait fit into a batch. */
  fitting = 0;
  inBatch = 0;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The conversation of an input as its key names it; inputs without a key are one conversation. */
export type Sender = { readonly conversation: Party; readonly tenant: Party };

const SLASH = 0x2f;

export class FairShares {
  readonly #conversationMax: number;
  readonly #tenantMax: number;
  readonly #senders = new Map<string, Sender>();
  readonly #tenants = new Map<string, Party>();
  #inBatch: Sender[] = [];
  #fitting = 0;

  /** @param inputsMax size of a batch. */
  constructor(inputsMax: number) {
    this.#conversationMax = Math.ceil(inputsMax / CONVERSATIONS_MIN);
    this.#tenantMax = Math.ceil(inputsMax / TENANTS_MIN);
  }

  /** How many of the inputs that wait fit into the shares of one batch. */
  get fitting(): number {
    return this.#fitting;
  }

  /** Notes that an input waits. */
  add({ key }: LogRecord): Sender {
    const sender = this.#senderOf(key);
    const { conversation, tenant } = sender;
    tenant.waiting += 1;
    conversation.waiting += 1;
    if (conversation.waiting > this.#conversationMax) return sender;
    tenant.fitting += 1;
    if (tenant.fitting <= this.#tenantMax) this.#fitting += 1;
    return sender;
  }

  /** Notes that an input waits no more. */
  remove({ conversation, tenant }: Sender): void {
    tenant.waiting -= 1;
    conversation.waiting -= 1;
    if (conversation.waiting === 0) this.#senders.delete(conversation.name);
    if (tenant.waiting === 0) this.#tenants.delete(tenant.name);
    if (conversation.waiting >= this.#conversationMax) return;
    tenant.fitting -= 1;
    if (tenant.fitting < this.#tenantMax) this.#fitting -= 1;
  }

  beginBatch(): void {
    for (const { conversation, tenant } of this.#inBatch) {
      conversation.inBatch = 0;
      tenant.inBatch = 0;
    }
    this.#inBatch = [];
  }

  /**
   * Whether an input belongs to its sender's share of the batch; counts it if so. A tenant that
   * waits alone has all of it.
   */
  admit(sender: Sender): boolean {
    const { conversation, tenant } = sender;
    if (conversation.inBatch >= this.#conversationMax) return false;
    if (tenant.inBatch >= this.#tenantMax && this.#tenants.size > 1) return false;
    conversation.inBatch += 1;
    tenant.inBatch += 1;
    this.#inBatch.push(sender);
    return true;
  }

  #senderOf(key: Uint8Array | null): Sender {
    const name = key === null ? "" : latin1(key);
    const existing = this.#senders.get(name);
    if (existing !== undefined) return existing;
    const slash = key?.indexOf(SLASH) ?? -1;
    const tenantName = slash < 0 ? name : name.slice(0, slash);
    const tenant = this.#tenants.get(tenantName) ?? new Party(tenantName);
    this.#tenants.set(tenantName, tenant);
    const sender = { conversation: new Party(name), tenant };
    this.#senders.set(name, sender);
    return sender;
  }
}

/** A text that is equal where the bytes are; decoding UTF-8 takes longer. */
function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}
