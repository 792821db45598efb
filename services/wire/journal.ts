/** Encodes and decodes journal records as Avro. */
import { cutText } from "../core/cut-text.ts";
import type { DecidedCall, Decision } from "../core/decision.ts";
import type { DecisionEvent, GateEvent } from "../core/events.ts";
import type { GateInput, ProposalInput, Vouched } from "../core/inputs.ts";
import { StateCorruptError } from "../runtime/errors.ts";
import type { DecidedInput, InputPosition, JournalRecord } from "../runtime/journal.ts";
import { member, optionalMember, QUARANTINES, REJECTIONS, TOPICS } from "./closed-lists.ts";
import { RegistryNeededError, UndecodableError } from "./reader.ts";
import { asBuffer, type RecordTypes } from "./record-types.ts";
import { type RawResult, resultFromRaw, resultToRaw } from "./result.ts";
import { type RawVerdict, verdictFromRaw, verdictToRaw } from "./verdict.ts";

/** Names and tool of a proposal. */
type Name = Pick<ProposalInput, "tenantId" | "conversationId" | keyof DecidedCall>;

/** A proposal in the schema's form. Fields that its decision has as well are null. */
type RawProposal = Omit<
  ProposalInput,
  "type" | "arguments" | "approvalId" | "clear" | "vouched" | keyof Name
> & {
  readonly name: Name | null;
  readonly argumentsText: string | null;
  readonly argumentsBytes: Buffer | null;
  readonly approvalId: string | null;
  readonly vouched: Vouched | null;
};

/**
 * The record in the schema's form: the input in parts, one for each kind, and everything else
 * unchanged.
 */
type RawJournal = Omit<JournalRecord, "input"> & {
  readonly inputKind: string;
  readonly at: InputPosition | null;
  readonly quarantineCode: string | null;
  readonly forwardedTo: number | null;
  readonly proposal: RawProposal | null;
  readonly result: RawResult | null;
  readonly verdict: RawVerdict | null;
};

/**
 * Bytes of a journal record. What the input and its decision have in common is written once.
 *
 * @throws FatalError where a field does not fit the schema.
 */
export function encodeJournal(types: RecordTypes, record: JournalRecord): Uint8Array {
  const { input, events } = record;
  const decided = input.type === "decided" ? input.input : null;
  // Written out: a spread of so many members costs several times what the library does.
  const raw: RawJournal = {
    seq: record.seq,
    prevHash: record.prevHash,
    inputKind: decided === null ? input.type : decided.type,
    at: input.type === "idle" ? null : input.at,
    quarantineCode: input.type === "quarantined" ? input.code : null,
    forwardedTo: input.type === "forwarded" ? input.partition : null,
    proposal: decided?.type === "proposal" ? proposalToRaw(decided, decisionOf(events)) : null,
    result: decided?.type === "result" ? resultToRaw(decided) : null,
    verdict: decided?.type === "verdict" ? verdictToRaw(decided) : null,
    anchor: record.anchor,
    next: record.next,
    clocks: record.clocks,
    previousAtMs: record.previousAtMs,
    policyRevision: record.policyRevision,
    events,
    stateHash: record.stateHash,
  };
  return types["decision-event"].encode(raw);
}

/** The decision whose fields a proposal's record may omit: that of its first event. */
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
  const isCanonical = isText && input.arguments === decision?.arguments.text;
  return {
    name: decision !== undefined && hasSameNames(input, decision) ? null : input,
    argumentsText: isText && !isCanonical ? (input.arguments as string) : null,
    argumentsBytes: isText ? null : asBuffer(input.arguments as Uint8Array),
    assistantText: input.assistantText,
    estimatedCost: input.estimatedCost,
    confirmation: input.confirmation,
    approvalId: input.approvalId ?? null,
    rejected: input.rejected,
    vouched: input.vouched ?? null,
  };
}

/** Whether the decision has the proposal's names and tool, which are then written once. */
function hasSameNames(input: ProposalInput, { tenantId, conversationId, call }: Decision): boolean {
  return (
    input.callId === call.callId &&
    input.conversationId === conversationId &&
    input.tenantId === tenantId &&
    input.agentId === call.agentId &&
    input.turn === call.turn &&
    input.step === call.step &&
    input.tool === call.tool
  );
}

/** The names and tool of a decision. */
function nameOf({ tenantId, conversationId, call }: Decision): Name {
  return { tenantId, conversationId, ...call };
}

/** @throws StateCorruptError where the bytes are no journal record; nothing else. */
export function decodeJournal(types: RecordTypes, value: Uint8Array): JournalRecord {
  try {
    return recordFromRaw(types["decision-event"].decode(value) as RawJournal);
  } catch (cause) {
    if (!(cause instanceof UndecodableError)) throw cause;
    throw new StateCorruptError(
      `the journal holds a record that cannot be decoded: ${cause.message}`,
      {
        cause,
        ...(cause instanceof RegistryNeededError ? { context: { needsRegistry: true } } : {}),
      },
    );
  }
}

function recordFromRaw(raw: RawJournal): JournalRecord {
  return {
    seq: raw.seq,
    prevHash: raw.prevHash,
    input: inputFromRaw(raw),
    next: raw.next,
    clocks: raw.clocks,
    previousAtMs: raw.previousAtMs,
    policyRevision: raw.policyRevision,
    events: raw.events,
    stateHash: raw.stateHash,
    anchor: raw.anchor,
  };
}

function inputFromRaw(raw: RawJournal): JournalRecord["input"] {
  switch (raw.inputKind) {
    case "idle":
      return { type: "idle" };
    case "quarantined": {
      const code = optionalMember(QUARANTINES, raw.quarantineCode);
      return { type: "quarantined", at: positionOf(raw), code: part(code) };
    }
    case "forwarded":
      return { type: "forwarded", at: positionOf(raw), partition: part(raw.forwardedTo) };
    case "proposal":
      return decidedInput(raw, proposalFromRaw(part(raw.proposal), decisionOf(raw.events)));
    case "result":
      return decidedInput(raw, resultFromRaw(part(raw.result)));
    case "verdict":
      return decidedInput(raw, verdictFromRaw(part(raw.verdict)));
    case "tick":
      return decidedInput(raw, { type: "tick" });
    default:
      throw new UndecodableError(
        `\`${cutText(raw.inputKind, 40)}\` is no kind of input known here`,
      );
  }
}

function decidedInput(raw: RawJournal, input: GateInput): DecidedInput {
  return { type: "decided", at: positionOf(raw), input };
}

function positionOf(raw: RawJournal): InputPosition {
  const { topic, partition, offset, appendTimeMs } = part(raw.at);
  return { topic: member(TOPICS, topic), partition, offset, appendTimeMs };
}

function proposalFromRaw(raw: RawProposal, decision: DecisionEvent | undefined): ProposalInput {
  const name = raw.name ?? nameOf(part(decision));
  const canonical = raw.argumentsBytes === null ? decision?.arguments.text : undefined;
  const bytes = raw.argumentsBytes === null ? undefined : new Uint8Array(raw.argumentsBytes);
  const { assistantText, confirmation, approvalId, rejected, vouched } = raw;
  return {
    type: "proposal",
    ...name,
    arguments: part(raw.argumentsText ?? bytes ?? canonical),
    assistantText,
    estimatedCost: raw.estimatedCost,
    confirmation,
    rejected:
      rejected === null
        ? null
        : { reason: member(REJECTIONS, rejected.reason), message: rejected.message },
    ...(approvalId === null ? {} : { approvalId }),
    ...(vouched === null ? {} : { vouched }),
  };
}

/** The part of the record that belongs to the kind of its input. */
function part<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) {
    throw new UndecodableError("the input lacks the part that its kind names");
  }
  return value;
}
