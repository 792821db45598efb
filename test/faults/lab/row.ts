// One row of the fault suite.
import type { Verdict } from "./check-run.ts";
import type { Between, Cluster, Lab, LabOptions } from "./lab.ts";

/** The checker's result on the whole run, and what it saw during the load. */
export type Judgement = Verdict & { readonly between: Between };

/** A run to judge: a lab, or another thing that faults struck. */
export type Run = {
  readonly faults: number;
  /** The number of faults that struck inside a transaction. */
  readonly inTransaction: number;
  /**
   * Longest time to the next decision; null: not measured, since nothing that decides was struck.
   */
  readonly worstGapMs: number | null;
  finish(): Promise<Judgement>;
  logs(): string;
};

export type RowContext = {
  readonly cluster: Cluster;
  /** The short form, for every change; the long one strikes more often. */
  readonly short: boolean;
  /** The version of Kafka for a row that starts its own. */
  readonly version: { readonly version?: string; readonly transactionVersion?: number };
  /** Opens a lab, on the shared cluster unless another is given. */
  open(options?: Partial<LabOptions>): Promise<Lab>;
  /** Cleans up when the row is over, in reverse order. */
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
  /** Fewer faults inside an open transaction prove nothing. */
  readonly inTransactionMin?: (short: boolean) => number;
  /** Time limit of the row in seconds; 300 by default. */
  readonly withinSeconds?: number;
  /** The servers that the row starts beside Kafka. */
  readonly needs?: readonly ("redis" | "registry")[];
  /** Limit on the longest time to the next decision, in ms. */
  readonly gapMaxMs?: number;
  run(context: RowContext): Promise<Run>;
};
