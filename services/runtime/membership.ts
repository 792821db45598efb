/**
 * What a gate that shares its partitions with other gates needs from the outside, beside the log.
 */

export type Assignment = {
  /** Grows with every change; work for an earlier epoch is dropped. */
  readonly epoch: number;
  /** Our partitions: each number stands for that partition of all input topics. */
  readonly partitions: readonly number[];
};

/** Membership in a group of gates. */
export interface Membership {
  /** Our current assignment; empty before `join` and after `leave`. */
  readonly assignment: Assignment;
  /**
   * True from the first assignment until the gate leaves the group, or the group does not answer
   * for longer than a session.
   */
  readonly joined: boolean;
  /** False: no other gate can own a partition of ours, so one that was lost does not come back. */
  readonly isShared: boolean;
  /**
   * Resolves, with the reason, when the membership is lost for good: whoever runs the gate must end
   * with an error, so that another process starts. Never rejects.
   */
  readonly failed: Promise<Error>;
  /**
   * Partitions that the group will probably assign to us, the likeliest first; `partitions` is
   * their total number. Empty where nobody owns any. To be called before `join`. Absent: nobody can
   * predict it. Never rejects.
   */
  expected?(partitions: number): Promise<readonly number[]>;
  /**
   * Resolves with the first assignment. The listener is called at once with that and with every
   * later one.
   * @throws PipelineError where the group cannot be joined.
   */
  join(listener: (assignment: Assignment) => void): Promise<void>;
  /**
   * Gives all partitions up, so that other gates take them over at once instead of after a
   * time-out. Idempotent.
   */
  leave(): Promise<void>;
}

/**
 * The membership of a gate that is the only one on its log: it owns every partition while it runs.
 */
export class FixedMembership implements Membership {
  readonly assignment: Assignment;
  readonly isShared = false;
  readonly failed = new Promise<Error>(() => undefined);
  joined = false;

  constructor(partitions: number) {
    this.assignment = { epoch: 1, partitions: Array.from({ length: partitions }, (_, at) => at) };
  }

  async join(listener: (assignment: Assignment) => void): Promise<void> {
    this.joined = true;
    listener(this.assignment);
  }

  async leave(): Promise<void> {
    this.joined = false;
  }
}
