import fc, { type Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import type { GateInput } from "../../../services/core/inputs.ts";
import { PoisonRecordError, StateCorruptError } from "../../../services/runtime/errors.ts";
import type { DecodedInput } from "../../../services/runtime/ports.ts";
import { INPUT_TOPICS, type InputTopic } from "../../../services/runtime/topics.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import {
  ALLOWED,
  HELD,
  journalOf,
  REFUSED,
  SAMPLE_EVENTS,
  SAMPLE_POSITION,
  SAMPLE_PROPOSAL,
  SAMPLE_RESULT,
  SAMPLE_SECRETS,
  SAMPLE_VERDICT,
} from "../../support/wire/samples.ts";

const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
/** The bytes of an input as plain JSON. */
function asJson({ type: _, ...members }: GateInput): Uint8Array {
  return Buffer.from(JSON.stringify(members));
}

const JSON_PROPOSAL = Buffer.from(
  '{"conversationId":"c","callId":"d","tool":"t","arguments":{"a":[1,2.5,"x"]},"turn":3}',
);

/** A written record, and bytes that differ from it: cut, changed, extended, or arbitrary. */
function damaged(written: Uint8Array): Arbitrary<Uint8Array> {
  const position = fc.nat({ max: written.length - 1 });
  const cut = position.map((length) => written.subarray(0, length));
  const changed = fc
    .array(fc.tuple(position, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 })
    .map((changes) => {
      const bytes = new Uint8Array(written);
      for (const [at, byte] of changes) bytes[at] = byte;
      return bytes;
    });
  const grown = fc
    .tuple(position, fc.uint8Array({ minLength: 1, maxLength: 12 }))
    .map(([at, more]) => Buffer.concat([written.subarray(0, at), more, written.subarray(at)]));
  const prefixed = fc
    .uint8Array({ maxLength: 200 })
    .map((body) => Buffer.concat([written.subarray(0, 10), body]));
  return fc.oneof(changed, changed, grown, cut, prefixed, fc.uint8Array({ maxLength: 100 }));
}

const RUNS = { numRuns: 2_000 };

describe("damaged bytes only ever fail to decode", () => {
  const inputs: readonly (readonly [InputTopic, string, Uint8Array])[] = [
    ["proposals", "Avro", codec.encodeProposal(SAMPLE_PROPOSAL)],
    ["proposals", "JSON", JSON_PROPOSAL],
    ["results", "Avro", codec.encodeResult(SAMPLE_RESULT)],
    ["results", "JSON", asJson(SAMPLE_RESULT)],
    ["verdicts", "Avro", codec.encodeVerdict(SAMPLE_VERDICT)],
    ["verdicts", "JSON", asJson(SAMPLE_VERDICT)],
    ["verdicts", "a tick in Avro", codec.encodeTick()],
  ];

  test.each(inputs)("as a record of %s in %s", (topic, _form, written) => {
    expect(codec.decodeInput(topic, written)).toMatchObject({ ok: true });
    fc.assert(
      fc.property(damaged(written), (bytes) => {
        for (const each of INPUT_TOPICS) {
          const decoded: DecodedInput = codec.decodeInput(each, bytes);
          if (!decoded.ok) expect(decoded.message).toMatch(/\S/);
        }
      }),
      RUNS,
    );
  });

  test.each(Object.values(SAMPLE_EVENTS))("as a journal record of $type", (event) => {
    const written = codec.encodeJournal(journalOf(SAMPLE_PROPOSAL, [event]));
    fc.assert(
      fc.property(damaged(written), (bytes) => {
        try {
          codec.decodeJournal(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(StateCorruptError);
        }
      }),
      RUNS,
    );
  });

  const readers = [
    ["allowed", codec.decodeAllowed, codec.encodeDecision(ALLOWED, SAMPLE_POSITION).value],
    ["refused", codec.decodeRefused, codec.encodeDecision(REFUSED, SAMPLE_POSITION).value],
    ["held", codec.decodeHeld, codec.encodeDecision(HELD, SAMPLE_POSITION).value],
    [
      "a dead letter",
      codec.decodeDeadLetter,
      codec.encodeDeadLetter({
        at: SAMPLE_POSITION,
        code: "undecodable",
        message: "cut short",
        key: Buffer.from("default/c"),
        value: Buffer.from("7b", "hex"),
      }),
    ],
  ] as const;

  test.each(readers)("as a record of %s", (_what, decode, written) => {
    fc.assert(
      fc.property(damaged(written), (bytes) => {
        try {
          decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(PoisonRecordError);
        }
      }),
      RUNS,
    );
  });
});

test("decoding a record cut at any byte fails", () => {
  const written = codec.encodeJournal(journalOf(SAMPLE_PROPOSAL, [ALLOWED, REFUSED, HELD]));
  for (let length = 0; length < written.length; length += 1) {
    expect(() => codec.decodeJournal(written.subarray(0, length))).toThrow(StateCorruptError);
  }
});
