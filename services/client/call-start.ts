/** What the journal tells of the start of a call. */
import type { JournalRecord } from "../runtime/journal.ts";
import type { JournalPlace } from "./journal-place.ts";

/** Somebody begins the call. */
export type CallStart = {
  /** Who says so; null: who did not tell who it is. */
  readonly by: string | null;
  readonly place: JournalPlace;
};

const GUARD = "guard:";

/** The name of one claim of a guard: no other has it. */
export function claimName(id: string): string {
  return `${GUARD}${id}`;
}

export function isByGuard({ by }: CallStart): boolean {
  return by?.startsWith(GUARD) === true;
}

/** Whose start the record at this place has; undefined: nobody's. */
export function startIn(
  { input, events }: JournalRecord,
  place: JournalPlace,
): { readonly decisionId: string; readonly start: CallStart } | undefined {
  if (input.type !== "decided" || input.input.type !== "result") return undefined;
  const { decisionId, status, executorId: by = null } = input.input;
  // Who reports that it cannot tell how a call ended has begun it.
  if (status !== "started" && status !== "unknown") return undefined;
  // A guard starts nothing that its claim was not granted for. Others do not ask.
  const start = { by, place };
  if (events[0]?.type === "ignored" && isByGuard(start)) return undefined;
  return { decisionId, start };
}
