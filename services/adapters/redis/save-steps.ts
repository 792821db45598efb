import type { CheckpointBlob, CheckpointUpdate } from "../../runtime/ports.ts";

/** What one call of the script does. */
export type SaveStep = {
  readonly index: number;
  readonly blobs: readonly CheckpointBlob[];
  readonly removals: readonly string[];
  /** The header comes with it. */
  readonly last: boolean;
  /** Until the last step, what the server holds is no checkpoint. */
  readonly partial: boolean;
  /** Time that it took to make the blobs. */
  readonly workedMs: number;
};

/** The server does nothing else while it runs a step: so many take it a few milliseconds. */
const STEP_KEYS = 500;
const STEP_BYTES = 512 * 1024;

/**
 * A save in steps: first the conversations that are there, which leaves the earlier header with newer
 * blobs, then those that are not any more, with the header. Where these are more than one step takes,
 * the earlier header is wrong until the last step, and says so.
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
