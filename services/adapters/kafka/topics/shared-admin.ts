/**
 * Shares one admin client among concurrent requests, such as those of all partitions at a start.
 *
 * ADMIN-1 A client is disconnected only when no request uses it any more: after a disconnect
 *    kafkajs has no metadata, and requests in flight would end with misleading errors.
 * ADMIN-2 After a failure the next request gets another client.
 */
import type { Admin, Kafka } from "kafkajs";

type Shared = { readonly admin: Promise<Admin>; users: number };

export class SharedAdmin {
  readonly #newKafka: () => Kafka;
  /** The client for the next request; null: that request opens one. */
  #current: Shared | null = null;

  constructor(newKafka: () => Kafka) {
    this.#newKafka = newKafka;
  }

  /** Rejects where the request or the connection fails. */
  async ask<T>(request: (admin: Admin) => Promise<T>): Promise<T> {
    this.#current ??= { admin: connect(this.#newKafka().admin()), users: 0 };
    const shared = this.#current;
    shared.users += 1;
    try {
      return await request(await shared.admin);
    } catch (error) {
      if (this.#current === shared) this.#current = null;
      throw error;
    } finally {
      shared.users -= 1;
      await this.#disconnectUnused(shared);
    }
  }

  /** Requests in flight still get their answers; a later request opens a new client. */
  async close(): Promise<void> {
    const shared = this.#current;
    this.#current = null;
    if (shared !== null) await this.#disconnectUnused(shared);
  }

  async #disconnectUnused(shared: Shared): Promise<void> {
    if (shared === this.#current || shared.users > 0) return;
    const admin = await shared.admin.catch(() => null);
    await admin?.disconnect().catch(() => undefined);
  }
}

async function connect(admin: Admin): Promise<Admin> {
  try {
    await admin.connect();
    return admin;
  } catch (error) {
    await admin.disconnect().catch(() => undefined);
    throw error;
  }
}
