import { describe, expect, it } from "vitest";
import { createAvroCodec } from "../../../services/wire/codec.ts";

const codec = createAvroCodec({ secrets: new Map() });
const message = (topic: "proposals" | "results" | "verdicts", text: string | null) =>
  codec.decodeInput(topic, text === null ? null : new TextEncoder().encode(text));

describe("what an input that cannot be read is told", () => {
  it.each([
    ["proposals", "the record has no value: send an Avro or JSON record"],
    ["results", "the record has no value: send an Avro record"],
    ["verdicts", "the record has no value: send an Avro record"],
  ] as const)("names the forms that %s take, where it is empty", (topic, problem) => {
    expect(message(topic, null)).toEqual({ ok: false, message: problem });
  });

  it.each(["\ufeff{}", " {}"])("says how JSON begins, of a proposal %j alone", (text) => {
    const json = expect.stringMatching(/nor JSON \(first byte `\{`\)$/);
    expect(message("proposals", text)).toEqual({ ok: false, message: json });
    expect(message("results", text)).not.toEqual({ ok: false, message: json });
    expect(message("proposals", "\u0000\u0000")).not.toEqual({ ok: false, message: json });
  });
});
