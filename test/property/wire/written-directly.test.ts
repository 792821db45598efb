// Records that are written field by field, without the library.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DecisionEvent } from "../../../services/core/events.ts";
import type { ProposalInput } from "../../../services/core/inputs.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { encodeDecision, encodeDecisionByLibrary } from "../../../services/wire/encode-outputs.ts";
import { FlatWriter } from "../../../services/wire/flat-writer.ts";
import { encodeByLibrary, encodeJournal } from "../../../services/wire/journal.ts";
import { compileRecordTypes } from "../../../services/wire/record-types.ts";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { writeAllowedCall } from "../../../services/wire/write-outputs.ts";
import { decision, journalRecord, proposal } from "../../support/wire/arbitraries.ts";
import { SAMPLE_POSITION } from "../../support/wire/samples.ts";

const KEY_ID = "k1";
const secrets = new Map([[KEY_ID, new Uint8Array(32)]]);
const types = compileRecordTypes(readSchemaFiles());
const RUNS = { numRuns: 2_000 };
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Without what only the library writes, as most decisions are; text is kept as it is. */
function usual(event: DecisionEvent): DecisionEvent {
  const { sealed: _, ...rest } = event;
  const facts = <T extends { readonly more: unknown }>(call: T): T => ({ ...call, more: null });
  if (rest.type === "refused") {
    const answered =
      rest.answered === null ? null : { ...rest.answered, call: facts(rest.answered.call) };
    return { ...rest, answered, refusal: { ...rest.refusal, conflict: null } };
  }
  return rest.type === "allowed"
    ? { ...rest, keyId: KEY_ID, call: facts(rest.call) }
    : { ...rest, call: facts(rest.call) };
}

/** Numbers of events may be less than zero here, which no gate writes and the library has to. */
const positive = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each === "number" ? Math.abs(each) : each,
  );

const event = decision.map((each) => positive(usual(each)));

/** A proposal whose decision says the same of it. */
const decided = fc
  .tuple(journalRecord, proposal, event, fc.boolean())
  .map(([record, input, { ...of }, isCanonical]): JournalRecord => {
    const { tenantId, conversationId, callId, agentId, turn, step, tool } = of;
    const named = { tenantId, conversationId, callId, agentId, turn, step, tool };
    const given = isCanonical ? of.arguments : input.arguments;
    const said: ProposalInput = { ...input, ...named, arguments: given, rejected: null };
    const at = positive(SAMPLE_POSITION);
    return positive({ ...record, input: { type: "decided", at, input: said }, events: [of] });
  });

describe("what is written directly is byte for byte what the library writes", () => {
  test("in the record of a decision", () => {
    fc.assert(
      fc.property(event, fc.nat(), (each, offset) => {
        const direct = encodeDecision(types, secrets, each, offset);
        const library = encodeDecisionByLibrary(types, secrets, each, offset);
        expect([direct.topic, hex(direct.value)]).toEqual([library.topic, hex(library.value)]);
      }),
      RUNS,
    );
  });

  test("in the journal, with and without the decision's record before it", () => {
    fc.assert(
      fc.property(decided, fc.boolean(), (record, isAfter) => {
        const [first] = record.events as readonly DecisionEvent[];
        if (isAfter && first !== undefined) encodeDecision(types, secrets, first, 1);
        const direct = hex(encodeJournal(types, record));
        expect(direct).toBe(hex(encodeByLibrary(types, record)));
      }),
      RUNS,
    );
  });

  test("in any journal record", () => {
    fc.assert(
      fc.property(journalRecord, (record) => {
        expect(hex(encodeJournal(types, record))).toBe(hex(encodeByLibrary(types, record)));
      }),
      RUNS,
    );
  });
});

describe("a writer of records", () => {
  const [allowed] = fc.sample(
    event.filter((each) => each.type === "allowed"),
    1,
  );

  test("writes most records, or this would not be tried above", () => {
    const writer = new FlatWriter();
    let written = 0;
    for (const each of fc.sample(event, 500)) {
      if (each.type !== "allowed") continue;
      writer.begin(new Uint8Array(10));
      writeAllowedCall(writer, each, "key", 1);
      if (writer.end() !== undefined) written += 1;
    }
    expect(written).toBeGreaterThan(50);
  });

  test("leaves to the library what it cannot write, and what follows is not touched by it", () => {
    const writer = new FlatWriter();
    if (allowed?.type !== "allowed") throw new Error("no sample");
    const write = (each: typeof allowed): string | undefined => {
      writer.begin(new Uint8Array(0));
      writeAllowedCall(writer, each, "key", 1);
      const bytes = writer.end();
      return bytes === undefined ? undefined : hex(bytes);
    };
    // Counts of more than thirty bits are left to the library too.
    const plain = {
      ...allowed,
      arguments: "{}",
      occurrence: { ...allowed.occurrence, attempt: 1 },
    };
    const expected = write(plain);
    expect(expected).toBeDefined();
    for (const odd of [
      { arguments: "x".repeat(70_000) },
      { arguments: "\ud800" },
      { atMs: 2 ** 53 },
      { atMs: 1.5 },
      { atMs: -1 },
      { isRead: "yes" },
      { tool: 5 },
      { sealed: [] },
    ]) {
      expect(write({ ...plain, ...odd } as typeof allowed), JSON.stringify(odd)).toBeUndefined();
      expect(write({ ...plain })).toBe(expected);
    }
  });

  test("never writes over what it handed out", () => {
    const writer = new FlatWriter();
    const written: [Buffer, string][] = [];
    for (let index = 0; index < 400; index += 1) {
      writer.begin(new Uint8Array([index & 0xff]));
      writer.text(String(index).repeat(100));
      const bytes = writer.end();
      if (bytes !== undefined) written.push([bytes, hex(bytes)]);
    }
    expect(written).toHaveLength(400);
    for (const [bytes, before] of written) expect(hex(bytes)).toBe(before);
  });
});
