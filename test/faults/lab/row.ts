// One row of the fault suite.
import type { Verdict } from "./check-run.ts";
import type { Between, Cluster, Lab, LabOptions } from "./lab.ts";

/** What the checker says of the whole, and what it saw while the load ran. */
export type Judgement = Verdict & { readonly between: Between };

/** A run to be judged: a lab, or what else was struck. */
export type Run = {
  readonly faults: number;
  /** The number of faults that struck inside a transaction. */
  readonly inTransaction: number;
  /** Longest time to the next decision; null: none was taken, as nothing that decides was struck. */
  readonly worstGapMs: number | null;
  finish(): Promise<Judgement>;
  logs(): string;
};

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
  /** It fails when it takes longer; 300 by default. */
  readonly withinSeconds?: number;
  /** What it starts beside Kafka. */
  readonly needs?: readonly ("redis" | "registry")[];
  /** Longest time to the next decision that is allowed, ms. */
  readonly gapMaxMs?: number;
  run(context: RowContext): Promise<Run>;
};
