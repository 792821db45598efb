/** Who waits for something to be journaled of a decision. */
import type { CommittedRecord } from "../../runtime/journal.ts";
import type { CallgateError } from "../api/callgate-error.ts";
import type { WaitOptions } from "../api/gate-types.ts";
import { Deadline } from "../deadline.ts";
import { checkWait } from "../inputs/check-options.ts";
import { KeepAlive } from "../keep-alive.ts";

/** The time runs from its beginning, whatever it is spent on. */
export interface JournalWait<T> {
  /**
   * What a search of the journal gives, as of `Deadline`. Who has no time at all asks for what is there, and what is there is found by a search:
   * it has all the time it needs.
   *
   * @throws CallgateError `timeout`; the signal's reason; what the search throws.
   */
  search<R>(search: (isOver: () => boolean) => Promise<R>): Promise<R>;
  /** @throws CallgateError `timeout`, `closed`; the signal's reason. */
  ended(): Promise<T>;
  /** To be called once, whatever came of it. */
  end(): void;
}

const NO_LIMIT = { timeoutMs: Number.POSITIVE_INFINITY };

type Waiter<T> = {
  readonly resolve: (finding: T) => void;
  readonly fail: (error: unknown) => void;
};

/** What a record says of decisions, each with what whoever waits for it gets. */
export type Findings<T> = (
  record: CommittedRecord,
) => Iterable<readonly [decisionId: string, finding: T]>;

export class JournalWaits<T> {
  readonly #find: Findings<T>;
  /** Of a wait whose time is over: `` `d1` was not decided `` */
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
    // It may fail before, or without, anybody having asked for it.
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

  /** Nothing more will be committed: whoever waits gets the error, and so does who waits from now on. */
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
