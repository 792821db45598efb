/** Requests that wait until something about a decision is journaled. */
import type { CommittedRecord } from "../../runtime/journal.ts";
import type { CallgateError } from "../api/callgate-error.ts";
import type { WaitOptions } from "../api/gate-types.ts";
import { Deadline } from "../deadline.ts";
import { checkWait } from "../inputs/check-options.ts";
import { KeepAlive } from "../keep-alive.ts";

/** The time runs from the beginning of the wait, across all its steps. */
export interface JournalWait<T> {
  /**
   * Searches the journal, as in `Deadline`. A request without any time asks for what already
   * exists, so its search may take all the time it needs.
   *
   * @throws CallgateError `timeout`; the signal's reason; what the search throws.
   */
  search<R>(search: (isOver: () => boolean) => Promise<R>): Promise<R>;
  /** @throws CallgateError `timeout`, `closed`; the signal's reason. */
  ended(): Promise<T>;
  /** Call it once, whatever the outcome. */
  end(): void;
}

const NO_LIMIT = { timeoutMs: Number.POSITIVE_INFINITY };

type Waiter<T> = {
  readonly resolve: (finding: T) => void;
  readonly fail: (error: unknown) => void;
};

/** Extracts from a record, per decision, the value for those who wait for it. */
export type Findings<T> = (
  record: CommittedRecord,
) => Iterable<readonly [decisionId: string, finding: T]>;

export class JournalWaits<T> {
  readonly #find: Findings<T>;
  /** The message for a wait that timed out: `` `d1` was not decided `` */
  readonly #notYet: (decisionId: string) => string;
  readonly #waiters = new Map<string, Set<Waiter<T>>>();
  readonly #alive = new KeepAlive(() => undefined);
  #ended: CallgateError | undefined;

  constructor(find: Findings<T>, notYet: (decisionId: string) => string) {
    this.#find = find;
    this.#notYet = notYet;
  }

  /** @throws CallgateError `invalid_input` */
  begin(decisionId: string, options: WaitOptions): JournalWait<T> {
    checkWait(options);
    let waiter: Waiter<T> | undefined;
    const finding = new Promise<T>((resolve, reject) => {
      waiter = { resolve, fail: reject };
    });
    // The promise may reject before, or without, anybody awaiting it.
    finding.catch(() => undefined);
    if (waiter !== undefined) this.#add(decisionId, waiter);
    const limit = new Deadline(decisionId, options);
    const unlimited = { ...options, ...NO_LIMIT };
    const searching = options.timeoutMs === 0 ? new Deadline(decisionId, unlimited) : limit;
    return {
      search: (search) => searching.search(search),
      ended: () =>
        limit.within(finding, (time) => `${this.#notYet(decisionId)} within ${time}: ask again`),
      end: () => {
        if (waiter !== undefined) this.#remove(decisionId, waiter);
      },
    };
  }

  committed(records: readonly CommittedRecord[]): void {
    if (this.#waiters.size === 0) return;
    for (const record of records) {
      for (const [decisionId, finding] of this.#find(record)) {
        for (const waiter of this.#waiters.get(decisionId) ?? []) waiter.resolve(finding);
      }
    }
  }

  /** Nothing more will be committed: current and later waits end with the error. */
  end(error: CallgateError): void {
    this.#ended ??= error;
    for (const waiters of this.#waiters.values()) {
      for (const waiter of waiters) waiter.fail(error);
    }
  }

  #add(decisionId: string, waiter: Waiter<T>): void {
    if (this.#ended !== undefined) waiter.fail(this.#ended);
    const waiters = this.#waiters.get(decisionId) ?? new Set();
    waiters.add(waiter);
    this.#waiters.set(decisionId, waiters);
    this.#alive.begin();
  }

  #remove(decisionId: string, waiter: Waiter<T>): void {
    const waiters = this.#waiters.get(decisionId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(decisionId);
    this.#alive.end();
  }
}
