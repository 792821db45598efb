import type { CheckpointBlob, CheckpointUpdate } from "../../runtime/ports.ts";

/** The work of one call of the script. */
export type SaveStep = {
  readonly index: number;
  readonly blobs: readonly CheckpointBlob[];
  readonly removals: readonly string[];
  /** True for the step that writes the header. */
  readonly last: boolean;
  /** True where the server has no valid checkpoint until the last step. */
  readonly partial: boolean;
  /** Time that encoding the blobs took. */
  readonly workedMs: number;
};

/** Limits of a step, which blocks the server for a few milliseconds. */
const STEP_KEYS = 500;
const STEP_BYTES = 512 * 1024;

/**
 * Splits a save into steps. The first steps write conversations, which leaves the earlier header
 * valid with newer blobs; the last removes conversations and writes the header. Where the removals
 * need more than one step, the earlier header is invalid until the last step, and is marked as
 * such.
 */
export function* stepsOf(update: CheckpointUpdate): Generator<SaveStep> {
  const blobs = update.upserts[Symbol.iterator]();
  const { removals, replace } = update;
  let index = 0;
  let removed = 0;
  for (let isThrough = false; ; index += 1) {
    const startedMs = performance.now();
    const made: Made = isThrough ? NO_BLOBS : nextBlobs(blobs);
    isThrough = isThrough || made.through;
    const room = isThrough ? STEP_KEYS - made.blobs.length : 0;
    const some = removals.slice(removed, removed + room);
    removed += some.length;
    const last = isThrough && removed === removals.length;
    const partial = !last && (replace || some.length > 0);
    const workedMs = performance.now() - startedMs;
    yield { index, blobs: made.blobs, removals: some, last, partial, workedMs };
    if (last) return;
  }
}

type Made = { readonly blobs: readonly CheckpointBlob[]; readonly through: boolean };

const NO_BLOBS: Made = { blobs: [], through: true };

function nextBlobs(blobs: Iterator<CheckpointBlob>): Made {
  const step: CheckpointBlob[] = [];
  let bytes = 0;
  while (step.length < STEP_KEYS && bytes < STEP_BYTES) {
    const { value, done } = blobs.next();
    if (done === true) return { blobs: step, through: true };
    step.push(value);
    bytes += value.bytes.length;
  }
  return { blobs: step, through: false };
}
