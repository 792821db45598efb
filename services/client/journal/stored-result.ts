import type { GateEvent } from "../../core/events.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import type { StoredResult } from "../api/gate-types.ts";
import { isNearText, readOutput, utf8Length } from "../values/output-text.ts";

/** What this record says about the output of a call; undefined if it says nothing. */
export function resultOf(record: JournalRecord, decisionId: string): StoredResult | undefined {
  const event = record.events[0];
  if (event?.type !== "result_recorded" || event.decisionId !== decisionId) return undefined;
  if (event.status === "started" || record.input.type !== "decided") return undefined;
  const { input } = record.input;
  if (input.type !== "result") return undefined;
  const { outputDigest: digest, outputBytes: bytes, status, effect, error } = event;
  return withOutput({ decisionId, status, effect, error, bytes, digest }, input.output);
}

/**
 * How a call ended; `returned`: the output is what its handler returned, even if it was classified
 * as a failure.
 */
export type EndedCall = { readonly stored: StoredResult; readonly returned: boolean };

/** What this record says about the end of a call; undefined if it says nothing. */
export function endedCallOf(record: JournalRecord, decisionId: string): EndedCall | undefined {
  const stored = endedCalls(record).find(([id]) => id === decisionId)?.[1];
  if (stored === undefined) return undefined;
  const input = record.input.type === "decided" ? record.input.input : null;
  if (input?.type !== "result") return { stored, returned: false };
  return { stored, returned: input.status === "succeeded" || input.basis === "returned" };
}

/** The decisions whose calls end with this record, and how. */
export function endedCalls(
  record: JournalRecord,
): readonly (readonly [decisionId: string, result: StoredResult])[] {
  return record.events.flatMap((event) => {
    const result = endOf(event, record);
    return result === undefined ? [] : [[result.decisionId, result] as const];
  });
}

function endOf(event: GateEvent, record: JournalRecord): StoredResult | undefined {
  switch (event.type) {
    case "result_recorded":
      return resultOf(record, event.decisionId);
    case "outcome_unknown":
      return withoutOutput(event.decisionId, "unknown");
    case "reconciled":
      return reconciled(event.decisionId, event.outcome, record);
    default:
      return undefined;
  }
}

/** The end of a reconciled call: by a late result, with its output, or by a person. */
function reconciled(
  decisionId: string,
  status: StoredResult["status"],
  { input }: JournalRecord,
): StoredResult {
  if (input.type !== "decided" || input.input.type !== "result") {
    return withoutOutput(decisionId, status);
  }
  const { output, outputBytes, outputDigest: digest, error } = input.input;
  const bytes = outputBytes ?? (output === null ? 0 : utf8Length(output));
  const effect = status === "failed" ? "none" : null;
  return withOutput({ decisionId, status, effect, error, bytes, digest }, output);
}

function withoutOutput(decisionId: string, status: StoredResult["status"]): StoredResult {
  // A person who reconciles a call as failed has checked that it took no effect.
  const effect = status === "failed" ? "none" : null;
  return withOutput({ decisionId, status, effect, error: null, bytes: 0, digest: null }, null);
}

function withOutput(
  result: Pick<StoredResult, "decisionId" | "status" | "effect" | "error" | "bytes" | "digest">,
  text: string | null,
): StoredResult {
  if (text === null) return { ...result, output: undefined, whole: result.bytes === 0 };
  if (isNearText(text)) return { ...result, output: readOutput(text), whole: false };
  if (utf8Length(text) < result.bytes) return { ...result, output: text, whole: false };
  return { ...result, output: readOutput(text), whole: true };
}
