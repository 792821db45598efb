import { beforeEach, describe, expect, test } from "vitest";
import { FatalError, StateCorruptError } from "../../../services/runtime/errors.ts";
import { compileAvro } from "../../../services/wire/avro-types.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { schemaFingerprint } from "../../../services/wire/fingerprint.ts";
import { singleObjectPrefix } from "../../../services/wire/framing.ts";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import {
  ALLOWED,
  journalOf,
  PLAIN_PROPOSAL,
  SAMPLE_RESULT,
  SAMPLE_SECRETS,
} from "../../support/wire/samples.ts";
import { withField } from "../../support/wire/schema-walk.ts";

const schemas = readSchemaFiles();
let codec = createAvroCodec({ secrets: SAMPLE_SECRETS, schemas });

beforeEach(() => {
  codec = createAvroCodec({ secrets: SAMPLE_SECRETS, schemas });
});

function prefixOf(name: keyof typeof schemas.current): Buffer {
  return singleObjectPrefix(schemaFingerprint(compileAvro(schemas.current[name])));
}

describe("framing", () => {
  test("starts with c3 01 and the fingerprint of the schema", () => {
    const bytes = Buffer.from(codec.encodeResult(SAMPLE_RESULT));
    expect(bytes.subarray(0, 10)).toEqual(prefixOf("result"));
    expect(bytes.toString("hex", 0, 2)).toBe("c301");
  });

  test("with the fingerprint of another schema is refused", () => {
    const decoded = codec.decodeInput("verdicts", codec.encodeResult(SAMPLE_RESULT));
    expect(decoded).toMatchObject({ ok: false });
    expect(decoded).toHaveProperty("message", expect.stringContaining("no version of verdict"));
  });

  test("is named in the message where it is missing", () => {
    const decoded = codec.decodeInput("results", Buffer.from("00000000070a0b", "hex"));
    expect(decoded).toHaveProperty("message", expect.stringContaining("c3 01"));
  });

  test("is refused where bytes follow the record", () => {
    const bytes = Buffer.concat([codec.encodeResult(SAMPLE_RESULT), Buffer.from([0])]);
    const decoded = codec.decodeInput("results", bytes);
    expect(decoded).toHaveProperty("message", expect.stringContaining("1 bytes follow"));
  });
});

describe("memory", () => {
  test("of a returned record is not written again", () => {
    const first = codec.encodeProposal({ ...PLAIN_PROPOSAL, callId: "first" });
    const before = Buffer.from(first).toString("hex");
    for (let at = 0; at < 2_000; at += 1) {
      codec.encodeProposal({ ...PLAIN_PROPOSAL, callId: `later-${at}` });
    }
    expect(Buffer.from(first).toString("hex")).toBe(before);
  });

  test("grows for a record larger than a chunk, at any fill of the chunk", () => {
    for (let at = 0; at < 300; at += 1) {
      const output = "x".repeat((at * 4_999) % 200_000);
      const input = { ...SAMPLE_RESULT, output, outputBytes: output.length };
      expect(codec.decodeInput("results", codec.encodeResult(input))).toEqual({ ok: true, input });
    }
  });

  test("of a record to decode may be any bytes, not only the platform's buffers", () => {
    const bytes = new Uint8Array(codec.encodeResult(SAMPLE_RESULT));
    expect(codec.decodeInput("results", bytes)).toEqual({ ok: true, input: SAMPLE_RESULT });
  });
});

describe("a value that does not fit the schema", () => {
  test("is refused with the name of its field", () => {
    const record = journalOf(PLAIN_PROPOSAL, [
      { ...ALLOWED, times: { ...ALLOWED.times, atMs: 1.5 } },
    ]);
    expect(() => codec.encodeJournal(record)).toThrow(FatalError);
    expect(() => codec.encodeJournal(record)).toThrow(/events\.0\.times\.atMs/);
  });

  test("is refused where a number would be decoded as another", () => {
    for (const seq of [2 ** 52, -(2 ** 52) - 1, Number.MAX_SAFE_INTEGER, Number.NaN]) {
      const record = { ...journalOf(PLAIN_PROPOSAL, [ALLOWED]), seq };
      expect(() => codec.encodeJournal(record)).toThrow(/seq/);
    }
  });

  test("leaves the codec usable", () => {
    const good = journalOf(PLAIN_PROPOSAL, [ALLOWED]);
    expect(() => codec.encodeJournal({ ...good, seq: 0.5 })).toThrow(FatalError);
    expect(codec.decodeJournal(codec.encodeJournal(good))).toEqual(good);
  });
});

describe("a count in damaged bytes", () => {
  const journal = codec.encodeJournal(journalOf({ type: "tick" }, []));

  /**
   * The only list of that record is its events: one zero before the state hash and four attributes.
   */
  const eventsAt = journal.length - 1 - 1 - 4;

  test.each(["feffffff0f", "feffffffffffffff7f", "ffffffff0f"])(
    "of %s items is refused",
    (count) => {
      const damaged = Buffer.concat([
        journal.subarray(0, eventsAt),
        Buffer.from(count, "hex"),
        journal.subarray(eventsAt),
      ]);
      expect(() => codec.decodeJournal(damaged)).toThrow(StateCorruptError);
    },
  );
});

test("a record of an earlier version is decoded with null for new fields", () => {
  const earlier = withField(schemas.current.result, ["CallResult", "cost"], () => undefined);
  const released = [{ version: "v0", name: "result" as const, schema: earlier }];
  const reader = createAvroCodec({ secrets: SAMPLE_SECRETS, schemas: { ...schemas, released } });
  const { current } = schemas;
  const writer = createAvroCodec({
    secrets: SAMPLE_SECRETS,
    schemas: { current: { ...current, result: earlier }, released: [] },
  });
  const bytes = writer.encodeResult(SAMPLE_RESULT);
  expect(reader.decodeInput("results", bytes)).toEqual({
    ok: true,
    input: { ...SAMPLE_RESULT, cost: null },
  });
  expect(codec.decodeInput("results", bytes)).toMatchObject({ ok: false });
});

test("the error for missing schemas names the path", () => {
  expect(() => readSchemaFiles("no-such-directory")).toThrow(/no-such-directory.*proposed-call/);
});
