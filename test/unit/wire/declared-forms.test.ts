import { describe, expect, it } from "vitest";
import { createAvroCodec } from "../../../services/wire/codec.ts";

const codec = createAvroCodec({ secrets: new Map() });
const message = (topic: "proposals" | "results" | "verdicts", text: string | null) =>
  codec.decodeInput(topic, text === null ? null : new TextEncoder().encode(text));

describe("the message for an input that cannot be decoded", () => {
  it.each([
    ["proposals", "the record has no value: send an Avro or JSON record"],
    ["results", "the record has no value: send an Avro record"],
    ["verdicts", "the record has no value: send an Avro record"],
  ] as const)("names the accepted forms where a record of %s is empty", (topic, problem) => {
    expect(message(topic, null)).toEqual({ ok: false, message: problem });
  });

  it.each(["\ufeff{}", " {}"])("says how JSON must begin only for the proposal %j", (text) => {
    const json = expect.stringMatching(/nor JSON \(first byte `\{`\)$/);
    expect(message("proposals", text)).toEqual({ ok: false, message: json });
    expect(message("results", text)).not.toEqual({ ok: false, message: json });
    expect(message("proposals", "\u0000\u0000")).not.toEqual({ ok: false, message: json });
  });
});
