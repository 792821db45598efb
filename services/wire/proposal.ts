/**
 * Encodes and decodes proposals as Avro, and applies the rules that both Avro and JSON proposals
 * obey.
 */
import type { EnvelopeRejection, Money, ProposalInput } from "../core/inputs.ts";
import { readToolName, shownTool } from "../core/tool-name.ts";
import type { DecodedInput } from "../runtime/ports.ts";
import {
  boundedAssistantText,
  conversationProblem,
  costProblem,
  idProblem,
  optionalIdProblem,
} from "./input-rules.ts";
import { asBuffer, type RecordTypes } from "./record-types.ts";
import { escapedHalves, wellFormedOrNull } from "./well-formed.ts";

type WrittenProposal = Omit<Envelope, "arguments"> & { readonly arguments: Buffer | string };

/**
 * Bytes of a proposal for the proposals topic. Arguments passed as text are written as their UTF-8,
 * and half surrogate pairs as escapes.
 *
 * @throws FatalError where a field does not fit the schema.
 */
export function encodeProposal(types: RecordTypes, proposal: Envelope): Uint8Array {
  const type = typeof proposal.arguments === "string" ? types.proposedText : types["proposed-call"];
  const written: WrittenProposal = {
    tenantId: proposal.tenantId,
    conversationId: proposal.conversationId,
    callId: proposal.callId,
    agentId: proposal.agentId,
    turn: proposal.turn,
    step: proposal.step,
    tool: proposal.tool,
    arguments:
      typeof proposal.arguments === "string"
        ? escapedHalves(proposal.arguments)
        : asBuffer(proposal.arguments),
    assistantText: wellFormedOrNull(proposal.assistantText),
    estimatedCost: proposal.estimatedCost,
    confirmation: proposal.confirmation,
    approvalId: proposal.approvalId ?? null,
  };
  return type.encode(written);
}

/** Decodes a proposal from Avro. @throws UndecodableError */
export function decodeProposal(types: RecordTypes, value: Uint8Array): DecodedInput {
  const raw = types.proposedText.decode(value) as WrittenProposal & { readonly arguments: string };
  // Spelled out, not spread: this runs once for each call.
  return toInput({
    tenantId: raw.tenantId,
    conversationId: raw.conversationId,
    callId: raw.callId,
    agentId: raw.agentId,
    turn: raw.turn,
    step: raw.step,
    tool: raw.tool,
    arguments: raw.arguments.includes("\ufffd") ? originalBytes(types, value) : raw.arguments,
    assistantText: raw.assistantText,
    estimatedCost: raw.estimatedCost,
    confirmation: raw.confirmation,
    approvalId: raw.approvalId ?? null,
  });
}

/**
 * The argument bytes as they were sent: bytes that are not UTF-8 were read as text with U+FFFD, and
 * the strict parser must see the bytes.
 */
function originalBytes(types: RecordTypes, value: Uint8Array): Uint8Array {
  const raw = types["proposed-call"].decode(value) as { readonly arguments: Buffer };
  return new Uint8Array(raw.arguments);
}

/**
 * The input of an envelope. An envelope that names its call is an input, rejected where anything
 * else about it is wrong, so that its agent gets an answer; an envelope that does not name its call
 * is undecodable.
 */
export function toInput(envelope: Envelope, rejection?: EnvelopeRejection): DecodedInput {
  const nameless = conversationProblem(envelope) ?? idProblem("callId", envelope.callId);
  if (nameless !== undefined) return { ok: false, message: nameless };
  const read = readToolName(envelope.tool);
  const tool = read.ok ? read.name : shownTool(envelope.tool);
  const problem = rejection?.message ?? (read.ok ? restProblem(envelope) : read.problem);
  if (problem === undefined) return { ok: true, input: acceptable(envelope, tool) };
  const rejected = rejection ?? { reason: "malformed", message: problem };
  return { ok: true, input: rejectedInput(envelope, tool, rejected) };
}

function acceptable(envelope: Envelope, tool: string): ProposalInput {
  const { approvalId = null } = envelope;
  const input = withoutHold(envelope, tool);
  return approvalId === null ? input : { ...input, approvalId };
}

function withoutHold(envelope: Envelope, tool: string): ProposalInput {
  return {
    type: "proposal",
    tenantId: envelope.tenantId,
    conversationId: envelope.conversationId,
    callId: envelope.callId,
    agentId: envelope.agentId,
    turn: envelope.turn,
    step: envelope.step,
    tool,
    arguments: envelope.arguments,
    assistantText: boundedAssistantText(envelope.assistantText),
    estimatedCost: envelope.estimatedCost,
    confirmation: envelope.confirmation,
    rejected: null,
  };
}

/**
 * Why the gate would refuse a proposal for its ids, lengths or money; undefined: it would not. For
 * writers that want to know before they send it. A wrong tool name is the model's mistake, and for
 * the gate to answer.
 */
export function proposalProblem(envelope: Envelope): string | undefined {
  return (
    conversationProblem(envelope) ?? idProblem("callId", envelope.callId) ?? restProblem(envelope)
  );
}

function restProblem(envelope: Envelope): string | undefined {
  return (
    optionalIdProblem("agentId", envelope.agentId) ??
    optionalIdProblem("turn", envelope.turn) ??
    optionalIdProblem("step", envelope.step) ??
    optionalIdProblem("confirmation", envelope.confirmation) ??
    optionalIdProblem("approvalId", envelope.approvalId ?? null) ??
    costProblem(envelope.estimatedCost)
  );
}

/** A rejected proposal keeps its names, and of its other fields only the valid ones. */
function rejectedInput(
  envelope: Envelope,
  tool: string,
  rejected: EnvelopeRejection,
): ProposalInput {
  const sound = (field: string, text: string | null) =>
    optionalIdProblem(field, text) === undefined ? text : null;
  return {
    ...withoutHold(envelope, tool),
    agentId: sound("agentId", envelope.agentId),
    turn: sound("turn", envelope.turn),
    step: sound("step", envelope.step),
    estimatedCost: null,
    confirmation: null,
    rejected,
  };
}

/** The envelope of a proposal, whichever form it came in. */
export type Envelope = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly agentId: string | null;
  readonly turn: string | null;
  readonly step: string | null;
  readonly tool: string;
  readonly arguments: string | Uint8Array;
  readonly assistantText: string | null;
  readonly estimatedCost: Money | null;
  readonly confirmation: string | null;
  /** The hold that the proposal asks for again; null or absent: none. */
  readonly approvalId?: string | null;
};
