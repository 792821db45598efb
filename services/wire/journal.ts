/** Journal records to and from Avro. */
import { cutText } from "../core/cut-text.ts";
import type { DecisionEvent, GateEvent } from "../core/events.ts";
import type { GateInput, ProposalInput, Vouched } from "../core/inputs.ts";
import { StateCorruptError } from "../runtime/errors.ts";
import type { DecidedInput, InputPosition, JournalRecord } from "../runtime/journal.ts";
import { member, optionalMember, QUARANTINES, REJECTIONS, TOPICS } from "./closed-lists.ts";
import { eventFromRaw } from "./events-from-raw.ts";
import { eventToRaw } from "./events-to-raw.ts";
import { plainAnchor, plainMoney, plainPerInput } from "./plain.ts";
import { isNamedBy } from "./proposal-name.ts";
import type { RawJournal, RawName, RawProposal } from "./raw-journal.ts";
import { RegistryNeededError, UndecodableError } from "./reader.ts";
import { asBuffer, type RecordTypes } from "./record-types.ts";
import { resultFromRaw, resultToRaw } from "./result.ts";
import { verdictFromRaw, verdictToRaw } from "./verdict.ts";
import { writeProposalRecord } from "./write-journal.ts";

/**
 * Bytes of a journal record. What the input and its decision both say is written once.
 *
 * @throws FatalError where a field is not what the schema says.
 */
export function encodeJournal(types: RecordTypes, record: JournalRecord): Uint8Array {
  return encodeDirectly(types, record) ?? encodeByLibrary(types, record);
}

/** Undefined where the record is not like most. */
function encodeDirectly(types: RecordTypes, record: JournalRecord): Uint8Array | undefined {
  const { input, events } = record;
  if (record.anchor !== null) return undefined;
  const [event] = events;
  if (input.type !== "decided" || input.input.type !== "proposal" || events.length !== 1) {
    return undefined;
  }
  if (event?.type !== "allowed" && event?.type !== "refused") return undefined;
  const { writer } = types;
  writer.begin(types["decision-event"].prefix);
  writeProposalRecord(writer, record, input.at, input.input, event);
  return writer.end();
}

/** The bytes of any record. @throws FatalError where a field is not what the schema says. */
export function encodeByLibrary(types: RecordTypes, record: JournalRecord): Uint8Array {
  const { input, events, policyRevision } = record;
  const decided = input.type === "decided" ? input.input : null;
  const raw: RawJournal = {
    seq: record.seq,
    prevHash: record.prevHash,
    inputKind: decided === null ? input.type : decided.type,
    at: input.type === "idle" ? null : input.at,
    quarantineCode: input.type === "quarantined" ? input.code : null,
    proposal: decided?.type === "proposal" ? proposalToRaw(decided, decisionOf(events)) : null,
    result: decided?.type === "result" ? resultToRaw(decided) : null,
    verdict: decided?.type === "verdict" ? verdictToRaw(decided) : null,
    anchor: record.anchor,
    next: record.next,
    clocks: record.clocks,
    previousAtMs: record.previousAtMs,
    policyRevision,
    events: events.map((event) => eventToRaw(event, policyRevision)),
    stateHash: record.stateHash,
    ceId: null,
    ceSource: null,
    ceType: null,
    ceTime: null,
  };
  return types["decision-event"].encode(raw);
}

/** The decision that a proposal's record may lean on: that of its first event. */
function decisionOf(events: readonly GateEvent[]): DecisionEvent | undefined {
  const [first] = events;
  switch (first?.type) {
    case "allowed":
    case "refused":
    case "held":
      return first;
    case "repeated":
      return first.decision;
    default:
      return undefined;
  }
}

function proposalToRaw(input: ProposalInput, decision: DecisionEvent | undefined): RawProposal {
  const isText = typeof input.arguments === "string";
  const isCanonical = isText && input.arguments === decision?.arguments;
  return {
    named: decision !== undefined && isNamedBy(input, decision) ? null : nameOf(input),
    argumentsText: isText && !isCanonical ? (input.arguments as string) : null,
    argumentsBytes: isText ? null : asBuffer(input.arguments as Uint8Array),
    assistantText: input.assistantText,
    estimatedCost: input.estimatedCost,
    confirmation: input.confirmation,
    approvalId: input.approvalId ?? null,
    rejected: input.rejected,
    traceparent: null,
    tracestate: null,
    vouched: input.vouched ?? null,
  };
}

function nameOf(name: RawName): RawName {
  const { tenantId, conversationId, callId, agentId, turn, step, tool } = name;
  return { tenantId, conversationId, callId, agentId, turn, step, tool };
}

/** @throws StateCorruptError where the bytes are no journal record; nothing else. */
export function decodeJournal(types: RecordTypes, value: Uint8Array): JournalRecord {
  try {
    return recordFromRaw(types["decision-event"].decode(value) as RawJournal);
  } catch (cause) {
    if (!(cause instanceof UndecodableError)) throw cause;
    throw new StateCorruptError(`the journal holds a record that is none: ${cause.message}`, {
      cause,
      ...(cause instanceof RegistryNeededError ? { context: { needsRegistry: true } } : {}),
    });
  }
}

function recordFromRaw(raw: RawJournal): JournalRecord {
  const events = raw.events.map((event) => eventFromRaw(event, raw.policyRevision));
  return {
    seq: raw.seq,
    prevHash: raw.prevHash,
    input: inputFromRaw(raw, events),
    next: plainPerInput(raw.next),
    clocks: plainPerInput(raw.clocks),
    previousAtMs: raw.previousAtMs,
    policyRevision: raw.policyRevision,
    events,
    stateHash: raw.stateHash,
    anchor: plainAnchor(raw.anchor),
  };
}

function inputFromRaw(raw: RawJournal, events: readonly GateEvent[]): JournalRecord["input"] {
  switch (raw.inputKind) {
    case "idle":
      return { type: "idle" };
    case "quarantined": {
      const code = optionalMember(QUARANTINES, raw.quarantineCode);
      return { type: "quarantined", at: positionOf(raw), code: part(code) };
    }
    case "proposal":
      return decided(raw, proposalFromRaw(part(raw.proposal), decisionOf(events)));
    case "result":
      return decided(raw, resultFromRaw(part(raw.result)));
    case "verdict":
      return decided(raw, verdictFromRaw(part(raw.verdict)));
    case "tick":
      return decided(raw, { type: "tick" });
    default:
      throw new UndecodableError(
        `\`${cutText(raw.inputKind, 40)}\` is no kind of input known here`,
      );
  }
}

function decided(raw: RawJournal, input: GateInput): DecidedInput {
  return { type: "decided", at: positionOf(raw), input };
}

function positionOf(raw: RawJournal): InputPosition {
  const { topic, partition, offset, appendTimeMs } = part(raw.at);
  return { topic: member(TOPICS, topic), partition, offset, appendTimeMs };
}

function proposalFromRaw(raw: RawProposal, decision: DecisionEvent | undefined): ProposalInput {
  const name = nameOf(part(raw.named ?? decision));
  const canonical = raw.argumentsBytes === null ? decision?.arguments : undefined;
  const bytes = raw.argumentsBytes === null ? undefined : new Uint8Array(raw.argumentsBytes);
  const { assistantText, confirmation, approvalId, rejected, vouched } = raw;
  return {
    type: "proposal",
    ...name,
    arguments: part(raw.argumentsText ?? bytes ?? canonical),
    assistantText,
    estimatedCost: plainMoney(raw.estimatedCost),
    confirmation,
    rejected:
      rejected === null
        ? null
        : { reason: member(REJECTIONS, rejected.reason), message: rejected.message },
    ...(approvalId === null ? {} : { approvalId }),
    ...(vouched === null ? {} : { vouched: plainVouched(vouched) }),
  };
}

/** The library's records have their own prototypes. */
function plainVouched({ tokenId, keyId, expiresAtMs, confirms }: Vouched): Vouched {
  return { tokenId, keyId, expiresAtMs, confirms: confirms === null ? null : { ...confirms } };
}

/** The part that the kind of the input promises. */
function part<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) {
    throw new UndecodableError("the input lacks the part that its kind names");
  }
  return value;
}
