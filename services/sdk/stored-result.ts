import { utf8Length, valueOfText } from "../executor/output-text.ts";
import type { JournalRecord } from "../runtime/journal.ts";
import type { StoredResult } from "./gate-types.ts";

/** What this record says of the output of a call; undefined where it says nothing. */
export function storedResultOf(
  record: JournalRecord,
  decisionId: string,
): StoredResult | undefined {
  const event = record.events[0];
  if (event?.type !== "result_recorded" || event.decisionId !== decisionId) return undefined;
  if (event.status === "started" || record.input.type !== "decided") return undefined;
  const { input } = record.input;
  if (input.type !== "result") return undefined;
  const { outputDigest: digest, outputBytes: bytes, status } = event;
  const text = input.output;
  const known = { decisionId, status, bytes, digest };
  if (text === null) return { ...known, output: undefined, whole: bytes === 0 };
  if (utf8Length(text) < bytes) return { ...known, output: text, whole: false };
  return { ...known, output: valueOfText(text), whole: true };
}
