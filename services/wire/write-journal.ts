/** The journal record of a proposal that was allowed or refused, as `schemas/decision-event.avsc` has it. */
import type { CallAllowed, CallRefused } from "../core/events.ts";
import type { ProposalInput, Vouched } from "../core/inputs.ts";
import type { DecidedInput, JournalRecord } from "../runtime/journal.ts";
import type { PerInput } from "../runtime/topics.ts";
import type { FlatWriter } from "./flat-writer.ts";
import { isNamedBy } from "./proposal-name.ts";
import {
  writeDecisionStart,
  writeEvicted,
  writeFacts,
  writeMoney,
  writeNotices,
  writeRefusalRest,
} from "./write-parts.ts";

const INPUT_KIND = "proposal";

/** Of one proposal, and of one decision of it. */
export function writeProposalRecord(
  writer: FlatWriter,
  record: JournalRecord,
  at: DecidedInput["at"],
  proposal: ProposalInput,
  event: CallAllowed | CallRefused,
): void {
  writer.long(record.seq);
  writer.text(record.prevHash);
  writer.text(INPUT_KIND);
  writer.present();
  writer.text(at.topic);
  writer.int(at.partition);
  writer.long(at.offset);
  writer.long(at.appendTimeMs);
  // No quarantine.
  writer.nothing();
  writer.present();
  writeProposal(writer, proposal, event);
  // No result, no verdict, and no anchor.
  writer.nothing(3);
  writePerInput(writer, record.next);
  writePerInput(writer, record.clocks);
  writer.long(record.previousAtMs);
  writer.text(record.policyRevision);
  writer.count(1);
  writer.text(event.type);
  writer.present();
  writeDecision(writer, event, record.policyRevision);
  // What other events have, and the end of the events.
  writer.nothing(6);
  writer.nullableText(record.stateHash);
  // The attributes of CloudEvents.
  writer.nothing(4);
}

function writeProposal(
  writer: FlatWriter,
  proposal: ProposalInput,
  event: CallAllowed | CallRefused,
): void {
  const { arguments: given } = proposal;
  // Names are written where the decision has others; that, arguments in bytes, and a rejected envelope are rare.
  const isPlain = isNamedBy(proposal, event) && typeof given === "string";
  if (!isPlain || proposal.rejected !== null) {
    writer.odd();
    return;
  }
  writer.nothing();
  writer.nullableText(given === event.arguments ? null : given);
  writer.nothing();
  writer.nullableText(proposal.assistantText);
  writeMoney(writer, proposal.estimatedCost);
  writer.nullableText(proposal.confirmation);
  writer.nullableText(proposal.approvalId ?? null);
  // Not rejected, and no trace context.
  writer.nothing(3);
  writeVouched(writer, proposal.vouched);
}

function writeVouched(writer: FlatWriter, vouched: Vouched | undefined): void {
  if (!writer.isThere(vouched ?? null)) return;
  const { tokenId, keyId, expiresAtMs, confirms } = vouched as Vouched;
  writer.text(tokenId);
  writer.text(keyId);
  writer.long(expiresAtMs);
  if (!writer.isThere(confirms)) return;
  writer.text(confirms.tool);
  writer.nullableText(confirms.callId);
  writer.nullableText(confirms.argumentsDigest);
}

function writePerInput(writer: FlatWriter, { proposals, results, verdicts }: PerInput): void {
  writer.long(proposals);
  writer.long(results);
  writer.long(verdicts);
}

function writeDecision(
  writer: FlatWriter,
  event: CallAllowed | CallRefused,
  revision: string,
): void {
  writeDecisionStart(writer, event);
  writer.long(event.proposalsAtMs);
  writer.textUnless(event.policy, revision);
  writer.nullableText(event.tier);
  writer.bool(event.isRead);
  writeNotices(writer, event.warnings);
  writeNotices(writer, event.shadow);
  writer.bool(event.fresh);
  writer.long(event.stateDropAtMs);
  writer.bool(event.entersTurn);
  writer.nullableText(event.confirmation);
  writer.nullableText(event.approvalId);
  writer.texts(event.approvedBy);
  writeEvicted(writer, event.evicted);
  if (event.sealed !== undefined && event.sealed.length > 0) writer.odd();
  // Nothing sealed, and no trace context.
  writer.nothing(3);
  if (event.type === "allowed") writeAllowed(writer, event);
  else writeRefused(writer, event);
  // Not held.
  writer.nothing();
}

function writeAllowed(writer: FlatWriter, event: CallAllowed): void {
  writer.present();
  writeFacts(writer, event.call, event.actionKey);
  writer.present();
  writer.text(event.keyId);
  writer.textUnless(event.occurrence.decisionId, event.decisionId);
  writer.long(event.occurrence.openedAtMs);
  writer.int(event.occurrence.attempt);
  writer.long(event.notAfterMs);
  writer.long(event.timeLimitMs);
  writer.nullableText(event.idempotencyArgument);
  // Not refused.
  writer.nothing();
}

function writeRefused(writer: FlatWriter, event: CallRefused): void {
  const { refusal, strike, raised, answered } = event;
  // No facts of a call that may run, and not allowed.
  writer.nothing(2);
  writer.present();
  writer.int(refusal.schemaVersion);
  writer.textUnless(refusal.decisionId, event.decisionId);
  writer.textUnless(refusal.callId, event.callId);
  writer.textUnless(refusal.tool, event.tool);
  writer.textUnless(refusal.arguments, event.arguments);
  writeRefusalRest(writer, refusal, event.policy);
  writeStrike(writer, strike);
  writeRaised(writer, raised);
  writer.nullableTexts(event.cycle);
  writer.bool(event.counted);
  // Few calls were denied: the library writes it.
  if (event.denial !== null) writer.odd();
  writer.nothing();
  if (!writer.isThere(answered)) return;
  writeFacts(writer, answered.call, event.actionKey);
  writer.nullableText(answered.outputDigest);
}

function writeStrike(writer: FlatWriter, strike: CallRefused["strike"]): void {
  if (!writer.isThere(strike)) return;
  writer.text(strike.key);
  writer.int(strike.count);
  writer.nullableText(strike.step);
}

function writeRaised(writer: FlatWriter, raised: CallRefused["raised"]): void {
  if (!writer.isThere(raised)) return;
  writer.bool(raised.acknowledgement);
  writer.bool(raised.userInput);
  writer.nullableText(raised.ended);
}
