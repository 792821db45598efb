import type { WrittenWith } from "../adapters/kafka/transactions/unfinished-transactions.ts";
import type { Codec } from "../runtime/ports.ts";

/** The bytes that the gate writes in the transaction of a journal record. */
export function writtenWithOf(codec: Codec): (journalValue: Uint8Array) => Promise<WrittenWith> {
  return async (value) => {
    await codec.pending?.(value);
    const { input, events } = codec.decodeJournal(value);
    if (input.type === "idle") return { at: null, outputs: [] };
    const { at } = input;
    if (input.type === "quarantined") return { at, outputs: [{ topic: "deadLetters", id: null }] };
    const outputs = events.flatMap((event) =>
      event.type === "allowed" || event.type === "refused" || event.type === "held"
        ? [{ topic: event.type, id: event.decisionId }]
        : [],
    );
    return { at, outputs };
  };
}
