import avro from "avsc";
import { describe, expect, it } from "vitest";
import { compileAvro } from "../../../services/wire/avro-types.ts";

const SCHEMA = {
  type: "record",
  name: "Sample",
  fields: [
    { name: "text", type: "string" },
    { name: "maybeText", type: ["null", "string"] },
    { name: "maybeCount", type: ["null", "long"] },
    { name: "maybeFlag", type: ["null", "boolean"] },
    { name: "maybeList", type: ["null", { type: "array", items: "string" }] },
    {
      name: "maybePart",
      type: ["null", { type: "record", name: "Part", fields: [{ name: "of", type: "string" }] }],
    },
  ],
} as const;

const ours = compileAvro(SCHEMA as never);
const library = avro.Type.forSchema(SCHEMA as never, { wrapUnions: "never" });

const NOTHING = {
  maybeText: null,
  maybeCount: null,
  maybeFlag: null,
  maybeList: null,
  maybePart: null,
};

function samples() {
  const lengths = Array.from({ length: 140 }, (_, length) => length);
  const plain = lengths.map((length) => "x".repeat(length));
  const odd = ["\u007f", "\u0080", "é", "\ud83d\ude00", "\u0000", "\ud800", "x\ud800y"];
  const texts = [...plain, ...odd, ...odd.map((text) => `${"y".repeat(62)}${text}`)];
  const ofTexts = texts.flatMap((text) => [
    { ...NOTHING, text },
    { ...NOTHING, text: "", maybeText: text, maybeList: [text, ""], maybePart: { of: text } },
  ]);
  const counts = [0, -1, 63, 64, 2 ** 40].map((maybeCount) => ({
    ...{ ...NOTHING, text: "a", maybeCount },
    maybeFlag: maybeCount > 0,
  }));
  return [...ofTexts, ...counts];
}

describe("the encoded form", () => {
  it("is byte for byte the library's", () => {
    for (const value of samples()) {
      expect(ours.toBuffer(value).toString("hex")).toBe(library.toBuffer(value).toString("hex"));
    }
  });

  it("reports how many bytes a buffer lacks, as the library does", () => {
    for (const value of samples()) {
      const { length } = library.toBuffer(value);
      for (const room of [0, 1, 2, length - 2, length - 1, length]) {
        if (room < 0) continue;
        const theirs = library.encode(value, Buffer.alloc(room), 0);
        expect(ours.encode(value, Buffer.alloc(room), 0)).toBe(theirs);
      }
    }
  });

  it.each([
    ["text", 5],
    ["text", undefined],
    ["maybeText", undefined],
    ["maybeText", 5],
    ["maybeCount", "5"],
    ["maybeFlag", "yes"],
    ["maybeList", "yes"],
    ["maybePart", []],
    ["maybePart", true],
  ])("never has a value of another type in `%s`", (field, value) => {
    expect(() => ours.toBuffer({ ...NOTHING, text: "a", [field]: value })).toThrow();
  });
});
