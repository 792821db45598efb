// The codec port over plain JSON, so that a simulation needs no schemas. It does not support binary
// arguments. A proposal of the tool `UNWRITABLE` decodes, but cannot be encoded in a journal
// record.
import type { DecisionEvent } from "../../../services/core/events.ts";
import type { GateInput } from "../../../services/core/inputs.ts";
import { StateCorruptError } from "../../../services/runtime/errors.ts";
import type { InputPosition, JournalRecord } from "../../../services/runtime/journal.ts";
import type { Codec, DeadLetter } from "../../../services/runtime/ports.ts";

export const UNWRITABLE = "unwritable";

/** A record of `allowed`, `refused` or `held` in this codec. */
export type DecisionRecord = {
  readonly event: DecisionEvent;
  readonly at: InputPosition;
};

export function encodeJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), "utf8");
}

export function decodeJson<T>(bytes: Uint8Array | null): T {
  return JSON.parse(Buffer.from(bytes ?? []).toString("utf8")) as T;
}

export const jsonCodec: Codec = {
  decodeInput: (_topic, value) => {
    try {
      return { ok: true, input: decodeJson<GateInput>(value) };
    } catch {
      return { ok: false, message: "not JSON" };
    }
  },
  encodeJournal: (record) => {
    const { input } = record;
    const isUnwritable =
      input.type === "decided" &&
      input.input.type === "proposal" &&
      input.input.tool === UNWRITABLE;
    if (isUnwritable) throw new Error("this record cannot be encoded");
    return encodeJson(record);
  },
  decodeJournal: (value) => {
    try {
      return decodeJson<JournalRecord>(value);
    } catch (error) {
      throw new StateCorruptError("not a journal record", { cause: error });
    }
  },
  encodeDecision: (event, at) => ({ topic: event.type, value: encodeJson({ event, at }) }),
  encodeDeadLetter: (letter) => encodeJson(withText(letter)),
  encodeTick: () => encodeJson({ type: "tick" }),
};

function withText(letter: DeadLetter): unknown {
  const text = (bytes: Uint8Array | null): string | null =>
    bytes === null ? null : Buffer.from(bytes).toString("latin1");
  return { ...letter, key: text(letter.key), value: text(letter.value) };
}

/** The codec for the checker, with dead letters. */
export const checkedJson = {
  ...jsonCodec,
  decodeDeadLetter: (value: Uint8Array) => decodeJson<Pick<DeadLetter, "at" | "code">>(value),
};
