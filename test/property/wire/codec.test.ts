import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DecisionEvent } from "../../../services/core/events.ts";
import type { ProposalInput } from "../../../services/core/inputs.ts";
import { REASON_CODES } from "../../../services/core/reasons/reasons.ts";
import { QUARANTINE_CODES } from "../../../services/runtime/journal.ts";
import type { DeadLetter } from "../../../services/runtime/ports.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import {
  ALERT_KINDS,
  ALERT_SEVERITIES,
  type Alert,
} from "../../../services/wire/output-records.ts";
import {
  decision,
  events,
  inputPosition,
  journalRecord,
  proposal,
  record,
  result,
  verdict,
} from "../../support/wire/arbitraries.ts";
import { journalOf, SAMPLE_POSITION } from "../../support/wire/samples.ts";

const KEY_ID = "k1";
const codec = createAvroCodec({ secrets: new Map([[KEY_ID, new Uint8Array(32)]]) });
const RUNS = { numRuns: 300 };

describe("the codec decodes what it encoded", () => {
  test.each(Object.entries(events))("for an event of kind %s", (_kind, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (event) => {
        const journal = journalOf({ type: "tick" }, [event]);
        expect(structuredClone(codec.decodeJournal(codec.encodeJournal(journal)))).toStrictEqual(
          journal,
        );
      }),
      RUNS,
    );
  });

  test("for a journal record of any input", () => {
    fc.assert(
      fc.property(journalRecord, (each) => {
        expect(structuredClone(codec.decodeJournal(codec.encodeJournal(each)))).toStrictEqual(each);
      }),
      { numRuns: 1_000 },
    );
  });

  test("for a proposal", () => {
    fc.assert(
      fc.property(proposal, (input) => {
        const decoded = codec.decodeInput("proposals", codec.encodeProposal(input));
        // Text with the replacement character is returned as its bytes, which say whether it was
        // sent that way.
        const { arguments: decodedArguments, ...rest } = decoded.ok
          ? (decoded.input as ProposalInput)
          : input;
        const read =
          typeof decodedArguments === "string"
            ? decodedArguments
            : Buffer.from(decodedArguments).toString("utf8");
        expect(structuredClone({ ok: decoded.ok, ...rest, arguments: read })).toStrictEqual({
          ok: true,
          ...input,
        });
      }),
      RUNS,
    );
  });

  test("for arguments of any bytes", () => {
    fc.assert(
      fc.property(proposal, fc.uint8Array({ maxLength: 60 }), (input, bytes) => {
        const sent = codec.encodeProposal({ ...input, arguments: bytes });
        const decoded = codec.decodeInput("proposals", sent);
        const decodedArguments = decoded.ok ? (decoded.input as ProposalInput).arguments : "";
        expect(Buffer.from(decodedArguments as string)).toEqual(Buffer.from(bytes));
      }),
      RUNS,
    );
  });

  test("for a result", () => {
    fc.assert(
      fc.property(result, (input) => {
        const decoded = codec.decodeInput("results", codec.encodeResult(input));
        expect(structuredClone(decoded)).toStrictEqual({ ok: true, input });
      }),
      RUNS,
    );
  });

  test("for a verdict", () => {
    fc.assert(
      fc.property(verdict, (input) => {
        const decoded = codec.decodeInput("verdicts", codec.encodeVerdict(input));
        expect(structuredClone(decoded)).toStrictEqual({ ok: true, input });
      }),
      RUNS,
    );
  });

  test("for a dead letter", () => {
    const bytes = fc.option(fc.uint8Array({ maxLength: 60 }), { nil: null });
    const letter: fc.Arbitrary<DeadLetter> = record({
      at: inputPosition,
      code: fc.constantFrom(...QUARANTINE_CODES),
      message: fc.string(),
      key: bytes,
      value: bytes,
    });
    fc.assert(
      fc.property(letter, (each) => {
        expect(codec.decodeDeadLetter(codec.encodeDeadLetter(each))).toStrictEqual(each);
      }),
      RUNS,
    );
  });

  test("for an alert", () => {
    const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
    const number = fc.double({ noNaN: true });
    const alert: fc.Arbitrary<Alert> = record({
      alertId: fc.string(),
      kind: fc.constantFrom(...ALERT_KINDS),
      severity: fc.constantFrom(...ALERT_SEVERITIES),
      tenantId: fc.string(),
      conversationId: fc.string(),
      atMs: fc.nat(),
      resolvedAtMs: nullable(fc.nat()),
      agentId: nullable(fc.string()),
      tool: nullable(fc.string()),
      reason: nullable(fc.constantFrom(...REASON_CODES)),
      decisionId: nullable(fc.string()),
      message: fc.string(),
      value: nullable(number),
      threshold: nullable(number),
      windowMs: nullable(fc.nat()),
      count: fc.nat(),
    });
    fc.assert(
      fc.property(alert, (each) => {
        expect(codec.decodeAlert(codec.encodeAlert(each))).toStrictEqual(each);
      }),
      RUNS,
    );
  });

  test("for the output record of a decision", () => {
    fc.assert(
      fc.property(decision, fc.nat(), (each, offset) => {
        const event = writable(each);
        const { topic, value } = codec.encodeDecision(event, { ...SAMPLE_POSITION, offset });
        expect(topic).toBe(event.type);
        const { decisionId, tenantId, conversationId, call, policy, times, notices } = event;
        const common = {
          ...{ decisionId, tenantId, conversationId, call, policy },
          ...{ atMs: times.atMs, warnings: notices.warnings, inputOffset: offset },
        };
        if (event.type === "refused") {
          const { refusal } = event;
          expect(codec.decodeRefused(value)).toMatchObject({ ...common, refusal });
          return;
        }
        const read = event.type === "held" ? codec.decodeHeld(value) : codec.decodeAllowed(value);
        expect(read).toMatchObject({ ...common, arguments: event.arguments });
      }),
      RUNS,
    );
  });
});

/**
 * The event under the available secret, without sealed values: arbitrary ones could not be opened.
 */
function writable(event: DecisionEvent): DecisionEvent {
  const plain = { ...event, arguments: { ...event.arguments, sealed: [] } };
  return plain.type === "allowed" ? { ...plain, keyId: KEY_ID } : plain;
}

test("no journal record holds an idempotency key", () => {
  fc.assert(
    fc.property(decision, (each) => {
      const event = writable(each);
      fc.pre(event.type === "allowed");
      const { value } = codec.encodeDecision(event, SAMPLE_POSITION);
      const key = codec.decodeAllowed(value).idempotencyKey;
      expect(key).toMatch(/^[\w-]{43}$/);
      const journal = codec.encodeJournal(journalOf({ type: "tick" }, [event]));
      expect(Buffer.from(journal).includes(key)).toBe(false);
    }),
    RUNS,
  );
});
