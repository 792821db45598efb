/**
 * One admin client for all who ask of the cluster at once: the partitions of a gate that starts do.
 *
 * ADMIN-1 a client is let go only when nobody asks it any more: kafkajs forgets everything as soon as it is
 *    disconnected, and questions under way would end with errors of its own making.
 * ADMIN-2 after a failure the next question gets another client.
 */
import type { Admin, Kafka } from "kafkajs";

type Shared = { readonly admin: Promise<Admin>; askers: number };

export class SharedAdmin {
  readonly #newKafka: () => Kafka;
  /** Who asks next asks this one. */
  #current: Shared | null = null;

  constructor(newKafka: () => Kafka) {
    this.#newKafka = newKafka;
  }

  /** Rejects as the question does, or as the connection. */
  async ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    this.#current ??= { admin: connected(this.#newKafka().admin()), askers: 0 };
    const shared = this.#current;
    shared.askers += 1;
    try {
      return await question(await shared.admin);
    } catch (error) {
      if (this.#current === shared) this.#current = null;
      throw error;
    } finally {
      shared.askers -= 1;
      await this.#letGo(shared);
    }
  }

  /** What is being asked is answered; a question after it opens a client anew. */
  async close(): Promise<void> {
    const shared = this.#current;
    this.#current = null;
    if (shared !== null) await this.#letGo(shared);
  }

  async #letGo(shared: Shared): Promise<void> {
    if (shared === this.#current || shared.askers > 0) return;
    const admin = await shared.admin.catch(() => null);
    await admin?.disconnect().catch(() => undefined);
  }
}

async function connected(admin: Admin): Promise<Admin> {
  try {
    await admin.connect();
    return admin;
  } catch (error) {
    await admin.disconnect().catch(() => undefined);
    throw error;
  }
}
