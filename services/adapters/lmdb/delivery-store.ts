/**
 * What a notifier must not lose: how far it has read, and what is not delivered yet. One file of its
 * own, which other processes may read and write at the same time.
 *
 * DELIVERY-1 positions move in the transaction that writes the deliveries derived up to them.
 * DELIVERY-2 a delivery is in one of the tables `pending` and `dead` until it succeeds.
 * DELIVERY-3 numbers of deliveries are never used twice.
 */
import { join } from "node:path";
import type * as Lmdb from "lmdb";
import type { Database, RootDatabase } from "lmdb";
import { FatalError, type PipelineError } from "../../runtime/errors.ts";
import type { Topic } from "../../runtime/topics.ts";
import { makeDirectory } from "../system/make-directory.ts";
import { loadOptional } from "../system/optional-package.ts";
import { mapStoreError } from "./map-error.ts";

const FILE = "notify.mdb";
/** Held arguments are in it, so other users must not read it. */
const FILE_MODE = 0o600;
const FORMAT = 1;

/** Most deliveries of one target that wait for their next try; further ones are dead at once. */
const PENDING_MAX = 10_000;
/** Most dead deliveries of one target; beyond it the oldest are dropped. */
const DEAD_MAX = 10_000;
const TOO_MANY = `${PENDING_MAX} deliveries to this target were waiting already`;

export type Delivery<E> = {
  readonly number: number;
  /** Id of the target. */
  readonly target: string;
  readonly event: E;
  /** How often it was sent in vain. */
  readonly tries: number;
  /** When it is sent next; once it is dead, when it died. */
  readonly dueAtMs: number;
  /** Why the latest try failed; null: none did. */
  readonly problem: string | null;
};

export type NewDelivery<E> = { readonly target: string; readonly event: E };

export type StoredPosition = {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
};

/** The log that the positions are positions of. */
export type LogIdentity = { readonly clusterId: string; readonly topicId: string };

export type DeliveryCounts = { readonly pending: number; readonly dead: number };

type Meta = { readonly format: number; readonly identity: LogIdentity };

type Tables = {
  readonly meta: Database<unknown, string>;
  readonly positions: Database<number, [topic: string, partition: number]>;
  readonly pending: Database<unknown, [target: string, dueAtMs: number, number: number]>;
  readonly dead: Database<unknown, [target: string, number: number]>;
};

export class DeliveryStore<E> {
  readonly #directory: string;
  readonly #root: RootDatabase;
  readonly #tables: Tables;

  /**
   * Creates the directory if it does not exist.
   * @throws PipelineError where the store is not installed, unreadable, damaged or full.
   */
  constructor(directory: string) {
    this.#directory = directory;
    const open = loadOpen(directory);
    try {
      makeDirectory(directory, 0o700);
      this.#root = openRoot(open, join(directory, FILE));
      this.#tables = openTables(this.#root);
    } catch (error) {
      throw this.#mapError(error);
    }
  }

  /**
   * Binds a new store to its log.
   * @throws FatalError `log_mismatch` where the store has positions of another log.
   */
  bind(identity: LogIdentity): void {
    const stored = this.#transact(() => {
      const meta = this.#tables.meta.get("log") as Meta | undefined;
      if (meta === undefined) this.#tables.meta.putSync("log", { format: FORMAT, identity });
      return meta ?? { format: FORMAT, identity };
    });
    const { clusterId, topicId } = stored.identity;
    if (stored.format !== FORMAT) {
      throw new FatalError("log_mismatch", `\`${this.#directory}\` has another format: ${OTHER}`);
    }
    if (clusterId === identity.clusterId && topicId === identity.topicId) return;
    throw new FatalError(
      "log_mismatch",
      `\`${this.#directory}\` has the deliveries of another log (cluster ${clusterId}, topic ${topicId}): ${OTHER}`,
    );
  }

  /** The offset to read next; undefined: none was stored. */
  position(topic: Topic, partition: number): number | undefined {
    return this.#view(() => this.#tables.positions.get([topic, partition]));
  }

  /**
   * Stores deliveries and the positions up to which they were derived, or nothing. (DELIVERY-1)
   * Returns how many dead deliveries of which targets were dropped for those that may not wait.
   */
  commit(
    positions: readonly StoredPosition[],
    deliveries: readonly NewDelivery<E>[],
    nowMs: number,
  ): ReadonlyMap<string, number> {
    return this.#transact(() => {
      for (const { topic, partition, offset } of positions) {
        this.#tables.positions.putSync([topic, partition], offset);
      }
      const targets = [...new Set(deliveries.map(({ target }) => target))];
      const dropped = targets.map((target) => {
        const events = deliveries.filter((one) => one.target === target);
        return [target, this.#add(target, events, nowMs)] as const;
      });
      return new Map(dropped.filter(([, count]) => count > 0));
    });
  }

  /** What is to be sent now, the longest due first. */
  due(target: string, nowMs: number, most: number): readonly Delivery<E>[] {
    const range = { start: [target], end: [target, nowMs + 1], limit: most };
    return this.#view(() => [...this.#tables.pending.getRange(range as never)].map(deliveryIn<E>));
  }

  /** It was delivered. */
  remove({ target, dueAtMs, number }: Delivery<E>): void {
    this.#transact(() => void this.#tables.pending.removeSync([target, dueAtMs, number]));
  }

  /** A try failed, and another follows. */
  postpone(delivery: Delivery<E>, dueAtMs: number, problem: string): void {
    const { target, number, tries } = delivery;
    this.#transact(() => {
      this.#tables.pending.removeSync([target, delivery.dueAtMs, number]);
      const next = { ...delivery, dueAtMs, problem, tries: tries + 1 };
      this.#tables.pending.putSync([target, dueAtMs, number], next);
    });
  }

  /** The last try failed. Returns how many older dead deliveries were dropped for it. */
  bury(delivery: Delivery<E>, nowMs: number, problem: string): number {
    return this.#transact(() => {
      this.#tables.pending.removeSync([delivery.target, delivery.dueAtMs, delivery.number]);
      const dead = { ...delivery, dueAtMs: nowMs, problem, tries: delivery.tries + 1 };
      return this.#addDead(delivery.target, [dead]);
    });
  }

  /** Moves everything that waits for targets outside of the list to the dead ones. */
  buryOthers(targets: readonly string[], nowMs: number, problem: string): number {
    return this.#transact(() => {
      const others = [...this.#tables.pending.getRange()]
        .map(deliveryIn<E>)
        .filter(({ target }) => !targets.includes(target));
      for (const one of others) {
        this.#tables.pending.removeSync([one.target, one.dueAtMs, one.number]);
        this.#addDead(one.target, [{ ...one, dueAtMs: nowMs, problem }]);
      }
      return others.length;
    });
  }

  /** The oldest first. */
  listDead(): readonly Delivery<E>[] {
    const dead = this.#view(() => [...this.#tables.dead.getRange()].map(deliveryIn<E>));
    return dead.sort((a, b) => a.number - b.number);
  }

  /** Lets dead deliveries be sent again at once, with all their tries. Returns their number. */
  revive(deliveries: readonly Delivery<E>[], nowMs: number): number {
    return this.#transact(() => {
      const present = deliveries.filter(({ target, number }) =>
        this.#tables.dead.removeSync([target, number]),
      );
      for (const one of present) {
        const again = { ...one, dueAtMs: nowMs, tries: 0 };
        this.#tables.pending.putSync([one.target, nowMs, one.number], again);
      }
      return present.length;
    });
  }

  counts(target: string): DeliveryCounts {
    return this.#view(() => ({
      pending: this.#tables.pending.getKeysCount(allOf(target)),
      dead: this.#tables.dead.getKeysCount(allOf(target)),
    }));
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  #add(target: string, events: readonly NewDelivery<E>[], nowMs: number): number {
    const first = ((this.#tables.meta.get("number") as number | undefined) ?? 0) + 1;
    this.#tables.meta.putSync("number", first + events.length - 1);
    const all = events.map(({ event }, at) => {
      return { number: first + at, target, event, tries: 0, dueAtMs: nowMs, problem: null };
    });
    const room = Math.max(0, PENDING_MAX - this.#tables.pending.getKeysCount(allOf(target)));
    for (const one of all.slice(0, room)) {
      this.#tables.pending.putSync([target, nowMs, one.number], one);
    }
    return this.#addDead(
      target,
      all.slice(room).map((one) => ({ ...one, problem: TOO_MANY })),
    );
  }

  /** Returns how many older ones were dropped. */
  #addDead(target: string, deliveries: readonly Delivery<E>[]): number {
    if (deliveries.length === 0) return 0;
    for (const one of deliveries) this.#tables.dead.putSync([target, one.number], one);
    const beyond = this.#tables.dead.getKeysCount(allOf(target)) - DEAD_MAX;
    if (beyond <= 0) return 0;
    const oldest = [...this.#tables.dead.getKeys({ ...allOf(target), limit: beyond })];
    for (const key of oldest) this.#tables.dead.removeSync(key);
    return beyond;
  }

  #transact<T>(action: () => T): T {
    try {
      return this.#root.transactionSync(action);
    } catch (error) {
      throw this.#mapError(error);
    }
  }

  #view<T>(action: () => T): T {
    try {
      this.#root.resetReadTxn();
      return action();
    } catch (error) {
      throw this.#mapError(error);
    }
  }

  #mapError(error: unknown): PipelineError {
    return mapStoreError(error, this.#directory);
  }
}

const OTHER = "name another directory (`notify.directory`), or move it away";

/** All keys that begin with a target: a number follows, and texts sort after numbers. */
function allOf(target: string) {
  return { start: [target], end: [target, "~"] } as never as { start: [string, number] };
}

function deliveryIn<E>({ value }: { readonly value: unknown }): Delivery<E> {
  return value as Delivery<E>;
}

function loadOpen(directory: string): typeof Lmdb.open {
  const lmdb = loadOptional<typeof Lmdb>("lmdb");
  if (lmdb.ok) return lmdb.loaded.open;
  const text = `the directory \`${directory}\` cannot be opened: ${lmdb.problem}`;
  throw new FatalError("log_unreadable", text, { cause: lmdb.cause });
}

function openRoot(open: typeof Lmdb.open, path: string): RootDatabase {
  return open({
    path,
    // The store has this option, but its types do not.
    ...{ permissionsMode: FILE_MODE },
    encoding: "json",
    maxDbs: 8,
    // A commit is flushed before it returns.
    overlappingSync: false,
  });
}

function openTables(root: RootDatabase): Tables {
  const table = (name: string) => root.openDB<never, never>({ name, encoding: "json" }) as never;
  return {
    meta: table("meta"),
    positions: table("positions"),
    pending: table("pending"),
    dead: table("dead"),
  };
}
