/** What the analytics store between two runs, in one file that is replaced as a whole. */
import { readWhole, replaceFile } from "../adapters/files/replace-file.ts";
import { FatalError } from "../runtime/errors.ts";
import type { FoldData, RaisedAlert } from "./fold.ts";

export type AnalyticsState = {
  readonly version: 1;
  /** The cluster of the log that the offsets belong to. */
  readonly clusterId: string;
  readonly topicId: string;
  readonly fold: FoldData;
  /** Alerts that may not be published yet. */
  readonly outbox: readonly RaisedAlert[];
  /** From which offset of the alerts topic the alerts of the outbox may be found, by partition. */
  readonly alertsFrom: readonly (readonly [partition: number, offset: number])[];
};

/** Null where there is no file yet. @throws FatalError where it cannot be parsed. */
export function readState(path: string): AnalyticsState | null {
  const text = readWhole(path);
  if (text === null) return null;
  try {
    const state = JSON.parse(text) as AnalyticsState;
    if (state.version === 1) return state;
  } catch {
    // Reported below: a file that is no JSON is as unreadable as one of another version.
  }
  throw new FatalError(
    "unexpected",
    `${path} is no state file of this version's analytics: remove it, and the numbers are computed again ` +
      "from what the topic still holds",
  );
}

export function writeState(path: string, state: AnalyticsState): void {
  replaceFile(path, JSON.stringify(state));
}
