/** A proposal, as `schemas/proposed-call.avsc` has it. */

import type { Envelope } from "./envelope.ts";
import type { FlatWriter } from "./flat-writer.ts";

/** With its arguments as text; given as bytes they are odd. */
export function writeProposedCall(writer: FlatWriter, proposal: Envelope): void {
  const { arguments: given } = proposal;
  writer.text(proposal.tenantId);
  writer.text(proposal.conversationId);
  writer.text(proposal.callId);
  writer.nullableText(proposal.agentId);
  writer.nullableText(proposal.turn);
  writer.nullableText(proposal.step);
  writer.text(proposal.tool);
  if (typeof given === "string") writer.text(given);
  else writer.odd();
  writer.nullableText(proposal.assistantText);
  // Few calls have one: the library writes it.
  if (proposal.estimatedCost !== null) writer.odd();
  writer.nothing();
  writer.nullableText(proposal.confirmation);
  writer.nullableText(proposal.approvalId ?? null);
  // Trace context, and the attributes of CloudEvents.
  writer.nothing(6);
}
