// The records whose bytes are stored in test/golden/avro: records of a release must stay readable
// for ever.

import type { GateEvent } from "../../../services/core/events.ts";
import type { GateInput } from "../../../services/core/inputs.ts";
import type { DeadLetter } from "../../../services/runtime/ports.ts";
import type { AvroCodec } from "../../../services/wire/codec.ts";
import type { Alert } from "../../../services/wire/output-records.ts";
import {
  ALLOWED,
  EXTRA_EVENTS,
  HELD,
  journalOf,
  REFUSED,
  SAMPLE_EVENTS,
  SAMPLE_POSITION,
  SAMPLE_PROPOSAL,
  SAMPLE_RESULT,
  SAMPLE_VERDICT,
} from "./samples.ts";

export type GoldenRecord = {
  /** Name of the record's file in a release's folder. */
  readonly file: string;
  /** The release that introduced it. */
  readonly since: number;
  readonly write: (codec: AvroCodec) => Uint8Array;
  readonly read: (codec: AvroCodec, bytes: Uint8Array) => unknown;
  /** The decoded value; a part of it where the record has fields that no core type has. */
  readonly value: object;
};

const LETTER: DeadLetter = {
  at: SAMPLE_POSITION,
  code: "undecodable",
  message: "the proposed-call record is cut short",
  key: Uint8Array.of(100, 47, 99),
  value: Uint8Array.of(0xc3, 0x01, 0x00),
};

const ALERT: Alert = {
  alertId: "loop:default/conversation-7f3a",
  kind: "loop",
  severity: "warning",
  tenantId: "default",
  conversationId: "conversation-7f3a",
  atMs: SAMPLE_POSITION.appendTimeMs,
  resolvedAtMs: SAMPLE_POSITION.appendTimeMs + 1,
  agentId: "agent-1",
  tool: "create_invoice",
  reason: "loop_repeat",
  decisionId: "01".repeat(16),
  message: "one call was refused five times",
  value: 5.5,
  threshold: 4,
  windowMs: 60_000,
  count: 5,
};

const input = (value: GateInput) => ({ ok: true, input: value });

const INPUTS: readonly GoldenRecord[] = [
  {
    file: "proposed-call",
    since: 1,
    write: (codec) => codec.encodeProposal(SAMPLE_PROPOSAL),
    read: (codec, bytes) => codec.decodeInput("proposals", bytes),
    value: input(SAMPLE_PROPOSAL),
  },
  {
    file: "result",
    since: 1,
    write: (codec) => codec.encodeResult(SAMPLE_RESULT),
    read: (codec, bytes) => codec.decodeInput("results", bytes),
    value: input(SAMPLE_RESULT),
  },
  {
    file: "verdict",
    since: 1,
    write: (codec) => codec.encodeVerdict(SAMPLE_VERDICT),
    read: (codec, bytes) => codec.decodeInput("verdicts", bytes),
    value: input(SAMPLE_VERDICT),
  },
  {
    file: "verdict-tick",
    since: 1,
    write: (codec) => codec.encodeTick(),
    read: (codec, bytes) => codec.decodeInput("verdicts", bytes),
    value: input({ type: "tick" }),
  },
];

function journaled(name: string, events: readonly GateEvent[], since: number): GoldenRecord {
  const record = journalOf(SAMPLE_PROPOSAL, events);
  return {
    file: `decision-event-${name}`,
    since,
    write: (codec) => codec.encodeJournal(record),
    read: (codec, bytes) => codec.decodeJournal(bytes),
    value: record,
  };
}

const JOURNAL: readonly GoldenRecord[] = [
  ...Object.values(SAMPLE_EVENTS).map((event) =>
    journaled(event.type.replaceAll("_", "-"), [event], event.type === "ruled" ? 2 : 1),
  ),
  journaled("extras", EXTRA_EVENTS, 2),
];

const callFields = {
  decisionId: ALLOWED.decisionId,
  call: ALLOWED.call,
  arguments: ALLOWED.arguments,
  inputOffset: SAMPLE_POSITION.offset,
};

const OUTPUTS: readonly GoldenRecord[] = [
  {
    file: "allowed-call",
    since: 1,
    write: (codec) => codec.encodeDecision(ALLOWED, SAMPLE_POSITION).value,
    read: (codec, bytes) => codec.decodeAllowed(bytes),
    value: { ...callFields, execution: ALLOWED.execution, notAfterMs: ALLOWED.notAfterMs },
  },
  {
    file: "refused-call",
    since: 1,
    write: (codec) => codec.encodeDecision(REFUSED, SAMPLE_POSITION).value,
    read: (codec, bytes) => codec.decodeRefused(bytes),
    value: { refusal: REFUSED.refusal, inputOffset: SAMPLE_POSITION.offset },
  },
  {
    file: "held-call",
    since: 1,
    write: (codec) => codec.encodeDecision(HELD, SAMPLE_POSITION).value,
    read: (codec, bytes) => codec.decodeHeld(bytes),
    value: { ...callFields, approvalId: HELD.holdId, expiresAtMs: HELD.expiresAtMs },
  },
  {
    file: "dead-letter",
    since: 1,
    write: (codec) => codec.encodeDeadLetter(LETTER),
    read: (codec, bytes) => codec.decodeDeadLetter(bytes),
    value: LETTER,
  },
  {
    file: "alert",
    since: 1,
    write: (codec) => codec.encodeAlert(ALERT),
    read: (codec, bytes) => codec.decodeAlert(bytes),
    value: ALERT,
  },
];

export const GOLDEN_RECORDS: readonly GoldenRecord[] = [...INPUTS, ...JOURNAL, ...OUTPUTS];
