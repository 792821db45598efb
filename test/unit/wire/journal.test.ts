import { describe, expect, test } from "vitest";
import type { CallAllowed, CallRefused, GateEvent } from "../../../services/core/events.ts";
import { idempotencyKey } from "../../../services/core/hash.ts";
import type { GateInput } from "../../../services/core/inputs.ts";
import { createSealing } from "../../../services/core/seal/sealing.ts";
import {
  FatalError,
  PoisonRecordError,
  StateCorruptError,
} from "../../../services/runtime/errors.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { openedArguments } from "../../../services/wire/encode-outputs.ts";
import {
  ALLOWED,
  HELD,
  journalOf,
  PLAIN_ALLOWED,
  PLAIN_PROPOSAL,
  REFUSED,
  SAMPLE_EVENTS,
  SAMPLE_POSITION,
  SAMPLE_PROPOSAL,
  SAMPLE_RESULT,
  SAMPLE_SECRETS,
  SAMPLE_VERDICT,
} from "../../support/wire/samples.ts";

const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
const bytesOf = (record: JournalRecord) => Buffer.from(codec.encodeJournal(record));
const roundTrip = (record: JournalRecord) => codec.decodeJournal(codec.encodeJournal(record));

function timesIn(bytes: Buffer, text: string): number {
  return bytes.toString("latin1").split(text).length - 1;
}

describe("a journal record", () => {
  test.each(Object.values(SAMPLE_EVENTS))(
    "with an event of type $type comes back as it was written",
    (event) => {
      const record = journalOf(SAMPLE_PROPOSAL, [event]);
      expect(structuredClone(roundTrip(record))).toStrictEqual(record);
    },
  );

  test.each<GateInput>([SAMPLE_PROPOSAL, SAMPLE_RESULT, SAMPLE_VERDICT, { type: "tick" }])(
    "of the input $type comes back as it was written",
    (input) => {
      const record = { ...journalOf(input, []), stateHash: "77".repeat(32) };
      expect(structuredClone(roundTrip(record))).toStrictEqual(record);
    },
  );

  test("without an input, or of a quarantined one, comes back as it was written", () => {
    const idle = { ...journalOf({ type: "tick" }, []), input: { type: "idle" as const } };
    expect(structuredClone(roundTrip(idle))).toStrictEqual(idle);
    const code = "internal_error" as const;
    const quarantined = {
      ...idle,
      input: { type: "quarantined" as const, at: SAMPLE_POSITION, code },
    };
    expect(structuredClone(roundTrip(quarantined))).toStrictEqual(quarantined);
  });
});

describe("a value that an input and its decision share is written once", () => {
  const once = bytesOf(journalOf(PLAIN_PROPOSAL, [PLAIN_ALLOWED]));

  test.each([
    PLAIN_ALLOWED.arguments.text,
    PLAIN_ALLOWED.call.callId,
    PLAIN_ALLOWED.conversationId,
  ])("%s", (text) => {
    expect(timesIn(once, text)).toBe(1);
  });

  test("also for a repeated decision", () => {
    const bytes = bytesOf(journalOf(PLAIN_PROPOSAL, [{ ...SAMPLE_EVENTS.repeated }]));
    expect(timesIn(bytes, PLAIN_ALLOWED.arguments.text)).toBe(1);
  });

  test("only where both are equal", () => {
    const spaced = `${PLAIN_ALLOWED.arguments.text} `;
    const record = journalOf({ ...PLAIN_PROPOSAL, arguments: spaced, agentId: null }, [
      PLAIN_ALLOWED,
    ]);
    expect(timesIn(bytesOf(record), PLAIN_ALLOWED.arguments.text)).toBe(2);
    expect(structuredClone(roundTrip(record))).toStrictEqual(record);
  });

  test("except arguments in bytes, which are not taken for text", () => {
    const bytes = new Uint8Array(Buffer.from(PLAIN_ALLOWED.arguments.text));
    const record = journalOf({ ...PLAIN_PROPOSAL, arguments: bytes }, [PLAIN_ALLOWED]);
    expect(structuredClone(roundTrip(record))).toStrictEqual(record);
  });
});

const UNKNOWN_NOTICE = { reason: "x", message: "", rule: "" };

test("an event whose type contradicts its record is not decoded", () => {
  const hex = Buffer.from(bytesOf(journalOf(SAMPLE_PROPOSAL, [ALLOWED]))).toString("hex");
  const [allowed, refused] = ["allowed", "refused"].map((type) =>
    Buffer.from(type).toString("hex"),
  );
  const forged = Buffer.from(hex.replace(`0e${allowed}`, `0e${refused}`), "hex");
  expect(() => codec.decodeJournal(forged)).toThrow(/type of a record is not that of its position/);
  const unknown = Buffer.from(hex.replace(`000e${allowed}`, `320e${allowed}`), "hex");
  expect(() => codec.decodeJournal(unknown)).toThrow(/no record has the number 25/);
});

describe("a word that is on no closed list is not decoded", () => {
  const refusal = REFUSED.refusal;
  const refused = (change: object): CallRefused => ({
    ...REFUSED,
    refusal: { ...refusal, ...change } as CallRefused["refusal"],
  });
  const events: readonly (readonly [string, unknown])[] = [
    ["a reason", refused({ reason: "because" })],
    ["a disposition", refused({ disposition: "panic" })],
    ["a resolution", refused({ resolution: { ...refusal.resolution, type: "prayer" } })],
    ["a call status", refused({ previousCall: { ...refusal.previousCall, status: "gone" } })],
    ["an end", { ...REFUSED, raised: { acknowledgement: true, userInput: true, ended: "never" } }],
    ["a warning's reason", { ...ALLOWED, notices: { warnings: [UNKNOWN_NOTICE], shadow: [] } }],
    ["a shadow's reason", { ...HELD, notices: { warnings: [], shadow: [UNKNOWN_NOTICE] } }],
    ["a result status", { ...SAMPLE_EVENTS.result_recorded, status: "done" }],
    ["an outcome", { ...SAMPLE_EVENTS.reconciled, outcome: "unknown" }],
    ["an ignored input", { ...SAMPLE_EVENTS.ignored, input: "letter" }],
    ["a cause", { ...SAMPLE_EVENTS.ignored, why: "mood" }],
  ];

  test.each(events)("%s", (_what, event) => {
    const bytes = bytesOf(journalOf(SAMPLE_PROPOSAL, [event as GateEvent]));
    expect(() => codec.decodeJournal(bytes)).toThrow(StateCorruptError);
  });

  test("in the input", () => {
    const base = journalOf(SAMPLE_PROPOSAL, []);
    const at = { ...SAMPLE_POSITION, topic: "elsewhere" };
    const inputs = [
      { type: "decided", at, input: SAMPLE_PROPOSAL },
      { type: "quarantined", at: SAMPLE_POSITION, code: "smelly" },
      {
        type: "decided",
        at: SAMPLE_POSITION,
        input: { ...SAMPLE_PROPOSAL, rejected: { reason: "ugly", message: "" } },
      },
    ];
    for (const input of inputs) {
      const bytes = bytesOf({ ...base, input: input as JournalRecord["input"] });
      expect(() => codec.decodeJournal(bytes)).toThrow(StateCorruptError);
    }
  });
});

describe("an allowed call", () => {
  const { value } = codec.encodeDecision(ALLOWED, SAMPLE_POSITION);
  const call = codec.decodeAllowed(value);

  test("carries the key of its execution and how to pass it on", () => {
    const secret = SAMPLE_SECRETS.get("k1") ?? new Uint8Array();
    const {
      tenantId,
      conversationId,
      call: { tool },
      arguments: { actionKey },
      execution,
    } = ALLOWED;
    const { decisionId } = execution;
    const name = { tenantId, conversationId, tool, identity: actionKey, decisionId };
    expect(call.idempotencyKey).toBe(idempotencyKey(secret, name));
    expect(call).toMatchObject({
      keyId: "k1",
      header: "X-Agent-Idempotency-Key",
      idempotencyArgument: "idempotency_key",
      execution: execution,
    });
  });

  test("has one key for all retries of its execution", () => {
    const retry = { ...ALLOWED, decisionId: "99".repeat(16), callId: "again", atMs: 1 };
    const again = codec.decodeAllowed(codec.encodeDecision(retry, SAMPLE_POSITION).value);
    expect(again.idempotencyKey).toBe(call.idempotencyKey);
  });

  test("is not written without its secret", () => {
    const event = { ...ALLOWED, keyId: "k9" };
    expect(() => codec.encodeDecision(event, SAMPLE_POSITION)).toThrow(FatalError);
    expect(() => codec.encodeDecision(event, SAMPLE_POSITION)).toThrow(/k9/);
  });

  test("is not decoded from a refused one", () => {
    const refused = codec.encodeDecision(REFUSED, SAMPLE_POSITION).value;
    expect(() => codec.decodeAllowed(refused)).toThrow(PoisonRecordError);
  });
});

test("a dead letter keeps key and value unchanged", () => {
  const letter = {
    at: SAMPLE_POSITION,
    code: "undecodable" as const,
    message: "the proposed-call record is cut short",
    key: Uint8Array.of(1, 2),
    value: Uint8Array.of(0xc3, 1, 0),
  };
  expect(codec.decodeDeadLetter(codec.encodeDeadLetter(letter))).toStrictEqual(letter);
  const empty = { ...letter, key: null, value: null };
  expect(codec.decodeDeadLetter(codec.encodeDeadLetter(empty))).toStrictEqual(empty);
});

describe("sensitive arguments", () => {
  const clear = '{"card":"4111222233334444","to":{"id":7}}';
  const [keyId = "", secret = new Uint8Array()] = [...SAMPLE_SECRETS][0] ?? [];
  const sealing = createSealing(keyId, SAMPLE_SECRETS);
  const sealedAt = (path: string, text: string) => {
    const sealPath = [PLAIN_ALLOWED.tenantId, PLAIN_ALLOWED.decisionId, path] as const;
    return { path, keyId, ...sealing.seal(keyId, sealPath, text) };
  };
  const event: CallAllowed = {
    ...PLAIN_ALLOWED,
    keyId,
    arguments: {
      ...PLAIN_ALLOWED.arguments,
      text: '{"card":"sealed:1","to":{"id":"sealed:2"}}',
      sealed: [sealedAt("/card", '"4111222233334444"'), sealedAt("/to/id", "7")],
    },
  };

  test("are in clear text in the allowed record only", () => {
    const { value } = codec.encodeDecision(event, SAMPLE_POSITION);
    expect(codec.decodeAllowed(value).arguments).toMatchObject({ text: clear, sealed: [] });
    const record = journalOf(SAMPLE_PROPOSAL, [event]);
    expect(structuredClone(roundTrip(record))).toStrictEqual(record);
    expect(timesIn(bytesOf(record), "4111222233334444")).toBe(0);
  });

  test("need the secret that sealed them, in addition to that of the key", () => {
    const other = createAvroCodec({ secrets: new Map([["next", secret]]) });
    const later = { ...event, keyId: "next" };
    expect(() => other.encodeDecision(later, SAMPLE_POSITION)).toThrow(`key id \`${keyId}\``);
    expect(openedArguments(new Map([["next", secret]]), later)).toBeNull();
    const both = new Map([["next", secret], ...SAMPLE_SECRETS]);
    expect(openedArguments(both, later)).toBe(clear);
  });

  test("are not written where they cannot be opened", () => {
    const moved = { ...event, decisionId: "another" };
    expect(() => codec.encodeDecision(moved, SAMPLE_POSITION)).toThrow("cannot be opened");
    expect(openedArguments(SAMPLE_SECRETS, moved)).toBeNull();
  });
});
