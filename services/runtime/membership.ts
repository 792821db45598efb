/** What a gate that shares its partitions with others needs from the outside, beside the log. */

export type Assignment = {
  /** Grows with every change; work of an earlier one is dropped. */
  readonly epoch: number;
  /** The partitions that are ours: each stands for that partition of all input topics. */
  readonly partitions: readonly number[];
};

/** A place among the gates of one group. */
export interface Membership {
  /** Ours as of now; empty before `join` and after `leave`. */
  readonly assignment: Assignment;
  /** True from the first assignment on, until the group is left, or says nothing for longer than a session. */
  readonly joined: boolean;
  /** False: nobody else can have a partition of ours, so one that was lost does not come back. */
  readonly isShared: boolean;
  /**
   * Resolves, with the reason, when the place is lost for good: whoever runs the gate must end with an
   * error, so that another process begins anew. Never rejects.
   */
  readonly failed: Promise<Error>;
  /**
   * Partitions that may be ours once we have joined, the likeliest first, of as many as there are; none
   * where nobody owns any. Asked for before `join`. Absent: nobody can tell. Never rejects.
   */
  expected?(partitions: number): Promise<readonly number[]>;
  /**
   * Resolves with the first assignment. The listener is told of it and of every later one, at once.
   * @throws PipelineError where the group cannot be joined.
   */
  join(listener: (assignment: Assignment) => void): Promise<void>;
  /** Gives all partitions up, so that others take them over now and not after a time-out. Idempotent. */
  leave(): Promise<void>;
}
