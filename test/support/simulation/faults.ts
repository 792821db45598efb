/** The probability of each fault at each occasion, 0 to 1. */
export type FaultRates = {
  /** The process dies just before or just after an operation. */
  readonly crash: number;
  readonly commitUnknownDone: number;
  readonly commitUnknownNotDone: number;
  /** The outcome is unknown, and the commit arrives later, unless its owner was fenced. */
  readonly commitLate: number;
  readonly commitFailed: number;
  /** A call to the log fails with a retryable error. */
  readonly logError: number;
  /** A journal read misses a record. */
  readonly tornRead: number;
  readonly checkpointTorn: number;
  readonly checkpointStale: number;
  readonly checkpointForeign: number;
  /** A save ends half way: blobs are newer than the header. */
  readonly checkpointPartial: number;
  readonly checkpointError: number;
  /** A process starts with an empty state store, or with an older copy of one. */
  readonly storeLost: number;
  readonly storeOld: number;
  /** A conversation in the state store is gone, damaged, or older. */
  readonly storeTorn: number;
  /** A write to the state store fails. */
  readonly storeError: number;
  /** At each step of the simulation. */
  readonly secondOwner: number;
  readonly pause: number;
  readonly foreignOffsets: number;
  readonly policySwap: number;
};

export const NO_FAULTS: FaultRates = {
  crash: 0,
  commitUnknownDone: 0,
  commitUnknownNotDone: 0,
  commitLate: 0,
  commitFailed: 0,
  logError: 0,
  tornRead: 0,
  checkpointTorn: 0,
  checkpointStale: 0,
  checkpointForeign: 0,
  checkpointPartial: 0,
  checkpointError: 0,
  storeLost: 0,
  storeOld: 0,
  storeTorn: 0,
  storeError: 0,
  secondOwner: 0,
  pause: 0,
  foreignOffsets: 0,
  policySwap: 0,
};

export const SOME_FAULTS: FaultRates = {
  crash: 0.01,
  commitUnknownDone: 0.05,
  commitUnknownNotDone: 0.05,
  commitLate: 0.05,
  commitFailed: 0.03,
  logError: 0.01,
  tornRead: 0.15,
  checkpointTorn: 0.1,
  checkpointStale: 0.1,
  checkpointForeign: 0.1,
  checkpointPartial: 0.1,
  checkpointError: 0.03,
  storeLost: 0.1,
  storeOld: 0.1,
  storeTorn: 0.03,
  storeError: 0.03,
  secondOwner: 0.004,
  pause: 0.01,
  foreignOffsets: 0.003,
  policySwap: 0.01,
};

/** A function that the simulated outside, or its core, can lack. */
export type OutsideFault = "fencing" | "redelivery";
