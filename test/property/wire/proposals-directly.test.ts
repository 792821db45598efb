// Proposals that are written and read field by field, without the library.
import fc, { type Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import type { Envelope } from "../../../services/wire/envelope.ts";
import { FlatReader } from "../../../services/wire/flat-reader.ts";
import {
  decodeByLibrary,
  decodeProposal,
  encodeByLibrary,
  encodeProposal,
} from "../../../services/wire/proposal.ts";
import { readProposedCall } from "../../../services/wire/read-proposal.ts";
import { compileRecordTypes } from "../../../services/wire/record-types.ts";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { proposal } from "../../support/wire/arbitraries.ts";

const types = compileRecordTypes(readSchemaFiles());
const PREFIX = types["proposed-call"].prefix.length;
const RUNS = { numRuns: 3_000 };

const odd = fc.string({ unit: "binary", maxLength: 50 });

/** Any proposal: some fields of any text, arguments in bytes, half surrogate pairs. */
const envelope: Arbitrary<Envelope> = fc
  .tuple(
    proposal,
    fc.record(
      {
        tenantId: odd,
        conversationId: odd,
        turn: fc.option(odd),
        tool: fc.string({ maxLength: 80 }),
        arguments: fc.oneof(odd, fc.uint8Array({ maxLength: 60 })),
        assistantText: fc.option(odd),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([plain, changes]) => {
    const { type: _type, rejected: _rejected, ...rest } = plain;
    return { ...rest, ...changes };
  });

function outcome<T>(run: () => T): unknown {
  try {
    return run();
  } catch (error) {
    return (error as Error).message;
  }
}

describe("a proposal without the library", () => {
  test("is byte for byte what the library writes", () => {
    fc.assert(
      fc.property(envelope, (each) => {
        const direct = Buffer.from(encodeProposal(types, each)).toString("hex");
        expect(direct).toBe(Buffer.from(encodeByLibrary(types, each)).toString("hex"));
      }),
      RUNS,
    );
  });

  test("reads as the library reads it, cut, changed or longer too", () => {
    const damage = fc.record({
      cut: fc.nat({ max: 3 }),
      at: fc.nat(),
      byte: fc.option(fc.nat({ max: 255 })),
      more: fc.uint8Array({ maxLength: 2 }),
    });
    fc.assert(
      fc.property(envelope, damage, (each, { cut, at, byte, more }) => {
        const written = Buffer.concat([encodeByLibrary(types, each), more]);
        if (byte !== null) written[PREFIX + (at % (written.length - PREFIX))] = byte;
        const bytes = written.subarray(0, written.length - cut);
        const direct = outcome(() => decodeProposal(types, bytes));
        expect(direct).toEqual(outcome(() => decodeByLibrary(types, bytes)));
      }),
      RUNS,
    );
  });

  test("is what most proposals are read as, or this would not be tried above", () => {
    const reader = new FlatReader();
    const [sample] = fc.sample(proposal, 1);
    const plain = { ...(sample as Envelope), arguments: "{}", estimatedCost: null };
    const bytes = Buffer.from(encodeByLibrary(types, plain));
    const { arguments: text, conversationId, tool } = plain;
    expect(readProposedCall(reader, bytes, PREFIX)).toMatchObject({
      arguments: text,
      conversationId,
      tool,
    });
    expect(readProposedCall(reader, bytes.subarray(0, -1), PREFIX)).toBeUndefined();
    const costly = { ...plain, estimatedCost: { microUnits: 5, currency: "USD" } };
    const written = Buffer.from(encodeByLibrary(types, costly));
    expect(readProposedCall(reader, written, PREFIX)).toBeUndefined();
  });
});

test("a text that comes again is the same one, and one of its hash is not taken for it", () => {
  const reader = new FlatReader();
  const texts = Array.from({ length: 20_000 }, (_, at) => `tool-${at}`);
  for (const text of [...texts, ...texts]) {
    const bytes = Buffer.concat([Buffer.from([2 * text.length]), Buffer.from(text)]);
    reader.begin(bytes, 0);
    expect(reader.commonText()).toBe(text);
    expect(reader.end()).toBe(true);
  }
});
