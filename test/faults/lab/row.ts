// One row of the fault suite.
import type { Cluster, Lab, LabOptions } from "./lab.ts";

export type RowContext = {
  readonly cluster: Cluster;
  /** The short form, for every change; the long one strikes more often. */
  readonly short: boolean;
  /** Which Kafka to start, where a row starts its own. */
  readonly version: { readonly version?: string; readonly transactionVersion?: number };
  /** On the shared cluster, unless another is given. */
  open(options?: Partial<LabOptions>): Promise<Lab>;
  /** Done when the row is over, the last given first. */
  onEnd(end: () => Promise<unknown>): void;
  /** For rows with conditions of their own. */
  fail(problem: string): void;
};

export type Row = {
  readonly name: string;
  readonly about: string;
  readonly inShort: boolean;
  /** Fewer faults prove nothing. */
  readonly faultsMin: (short: boolean) => number;
  /** Fewer of them inside an open transaction prove nothing. */
  readonly inTransactionMin?: (short: boolean) => number;
  /** Longest time to the next decision that is allowed, ms. */
  readonly gapMaxMs?: number;
  run(context: RowContext): Promise<Lab>;
};
