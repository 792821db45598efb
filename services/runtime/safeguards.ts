/**
 * What keeps the pipeline right, each by its name. All are on; a simulation switches one off at a
 * time to show that its checker would notice. Nothing else may.
 */
export type Safeguards = {
  /** Positions come from the journal's last record, not from the group's recorded offsets. */
  readonly positionsFromJournal: boolean;
  /** The journal's end is read after the partition was taken over, not before. */
  readonly endAfterFence: boolean;
  /** Committed state changes only after the commit. */
  readonly swapAfterCommit: boolean;
  /** An unknown outcome leads to another take-over, not to another try. */
  readonly takeOverOnUnknown: boolean;
  /** A journal with a gap or a broken chain is not replayed. */
  readonly chainCheck: boolean;
  /** A checkpoint whose digests do not match is ignored. */
  readonly checkpointDigests: boolean;
  /** A checkpoint of another log, or of another history of this one, is ignored. */
  readonly checkpointIdentity: boolean;
  /** Journal and decisions are written together. */
  readonly oneCommit: boolean;
  /** Gate time never falls. */
  readonly monotoneTime: boolean;
  /** A record that cannot be processed goes to the dead letters. */
  readonly quarantine: boolean;
};

export const ALL_SAFEGUARDS: Safeguards = {
  positionsFromJournal: true,
  endAfterFence: true,
  swapAfterCommit: true,
  takeOverOnUnknown: true,
  chainCheck: true,
  checkpointDigests: true,
  checkpointIdentity: true,
  oneCommit: true,
  monotoneTime: true,
  quarantine: true,
};
