import type { ResultInput } from "../core/inputs.ts";

export type Told = Pick<ResultInput, "status" | "executorId">;

/**
 * Where a call stands that this executor has in hand and did not begin, by all that the results say of it. Once a claim
 * is in the log, whoever takes over from then on does not begin the call.
 */
export type Standing =
  /** Nothing was said of it: it is anybody's. */
  | "unclaimed"
  /** A claim of ours that got no answer, and nothing else. */
  | "claimed"
  /** The same, and others took that for a call that was begun by one who is gone. */
  | "given_up"
  /** Others began it, or know what came of it. */
  | "elsewhere";

export function standingOf(told: readonly Told[], executorId: string): Standing {
  if (told.length === 0) return "unclaimed";
  const starts = told.filter(({ status }) => status === "started");
  const isOurs = starts.length > 0 && starts.every((start) => start.executorId === executorId);
  if (!isOurs) return "elsewhere";
  const ends = told.filter(({ status }) => status !== "started");
  if (ends.length === 0) return "claimed";
  const isGivenUp = ends.every((end) => end.status === "unknown" && end.executorId !== executorId);
  return isGivenUp ? "given_up" : "elsewhere";
}
