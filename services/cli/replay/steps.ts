import type { RecordedCall } from "./recording.ts";

/** Consecutive calls with one step of one turn were issued in one model message. */
export function issuedTogether(before: RecordedCall | undefined, call: RecordedCall): boolean {
  return call.step !== null && before?.step === call.step && before.turn === call.turn;
}
