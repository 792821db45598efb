/** How an allowed call ended according to the journal: its result, or what a person reconciled. */
import type {
  CallAllowed,
  CallReconciled,
  GateEvent,
  OutcomeUnknown,
  ResultRecorded,
} from "../../core/events.ts";
import { printable } from "../output/printable.ts";
import { journalFrom } from "./journal-records.ts";
import type { Source } from "./open-source.ts";

const TEXT_CHARACTERS = 500;

export type CallResult = ResultRecorded | OutcomeUnknown | CallReconciled;

/** The latest event decides, because a result may arrive late. Null: none yet. */
export async function resultOf(
  source: Source,
  { decisionId }: CallAllowed,
  { partition, offset }: { readonly partition: number; readonly offset: number },
): Promise<CallResult | null> {
  let last: CallResult | null = null;
  for await (const { record } of journalFrom(source, partition, offset)) {
    for (const event of record.events) {
      if (isResult(event) && event.decisionId === decisionId) last = event;
    }
  }
  return last;
}

function isResult(event: GateEvent): event is CallResult {
  const { type } = event;
  return type === "result_recorded" || type === "outcome_unknown" || type === "reconciled";
}

/** For people. */
export function resultText(result: CallResult | null): string {
  if (result === null) return "none in the journal yet";
  const at = `at ${new Date(result.atMs).toISOString()}`;
  switch (result.type) {
    case "outcome_unknown":
      return `unknown ${at}: none came in time`;
    case "reconciled": {
      const { outcome, by, reason } = result;
      return shown(`${outcome} ${at}, told by ${by}${reason === null ? "" : `: ${reason}`}`);
    }
    case "result_recorded": {
      const { status, effect, durationMs, error } = result;
      const statusText = effect === "possible" ? `${status} and may have taken effect` : status;
      const took = durationMs === null ? "" : `, after ${durationMs} ms`;
      const code = error?.code ? `${error.code}: ` : "";
      return shown(
        `${statusText} ${at}${took}${error === null ? "" : `: ${code}${error.message}`}`,
      );
    }
  }
}

function shown(text: string): string {
  return printable(text, TEXT_CHARACTERS);
}

/** For programs. */
export function resultJson(result: CallResult | null): object | null {
  if (result === null) return null;
  const { atMs } = result;
  switch (result.type) {
    case "outcome_unknown":
      return { status: "unknown", atMs };
    case "reconciled":
      return { status: result.outcome, atMs, by: result.by, reason: result.reason };
    case "result_recorded": {
      const { status, effect, durationMs, error } = result;
      return { status, effect, atMs, durationMs, error };
    }
  }
}
