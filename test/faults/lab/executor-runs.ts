// Reads the notes of handlers about the calls that they ran, and finds in the journal what became
// of unfinished calls.
import type { GateEvent } from "../../../services/core/events.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";

export type ExecutorRuns = {
  /** Decisions, each as often as its call began. */
  readonly begun: readonly string[];
  /** Calls that began and have not ended: not yet, or never if their executor died. */
  readonly cutOff: ReadonlySet<string>;
};

/** @param text lines `begin ID` and `end ID`. */
export function listRuns(text: string): ExecutorRuns {
  const lines = text.split("\n").map((line) => line.split(" "));
  const ids = (word: string) => lines.flatMap(([first, id]) => (first === word && id ? [id] : []));
  const begun = ids("begin");
  const ended = new Set(ids("end"));
  return { begun, cutOff: new Set(begun.filter((id) => !ended.has(id))) };
}

/** A call that was cut off must be unknown, since nobody could report it. */
export function findWrongReports(
  cutOff: ReadonlySet<string>,
  journal: readonly JournalRecord[],
): readonly string[] {
  const statusesById = new Map<string, string[]>([...cutOff].map((id) => [id, []]));
  for (const event of journal.flatMap(({ events }) => events)) {
    const status = endOf(event);
    if (status !== null && "decisionId" in event)
      statusesById.get(event.decisionId ?? "")?.push(status);
  }
  return [...statusesById].flatMap(([id, statuses]) =>
    statuses.length > 0 && statuses.every((status) => status === "unknown")
      ? []
      : [`${id} was cut off, and the journal has it as ${statuses.join(", ") || "open"}`],
  );
}

/** Null: the event ends no call. */
function endOf(event: GateEvent): string | null {
  if (event.type === "outcome_unknown") return "unknown";
  if (event.type === "reconciled") return event.outcome;
  return event.type === "result_recorded" && event.status !== "started" ? event.status : null;
}
