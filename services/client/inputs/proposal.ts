/** Proposals: checks what a program passes, and builds the envelope for the gate. */

import { randomUUID } from "node:crypto";
import { GREATEST_MAX_BYTES } from "../../core/canonical/limits.ts";
import { cutText } from "../../core/cut-text.ts";
import { LIMITS } from "../../core/limits.ts";
import type { RecordHeader } from "../../runtime/ports.ts";
import { boundedAssistantText } from "../../wire/input-rules.ts";
import { type Envelope, proposalProblem } from "../../wire/proposal.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type { ProposalToken, ProposedCall } from "../api/gate-types.ts";
import { argumentText } from "../values/argument-text.ts";
import { memberProblem } from "./check-options.ts";

const DEFAULT_TENANT = "default";

/** Longer names are refused as well, so they are not written. */
const NAME_CHARACTERS = 2 * LIMITS.toolNameLength;

const MEMBERS: Readonly<Record<keyof ProposedCall, true>> = {
  conversationId: true,
  tenantId: true,
  agentId: true,
  turn: true,
  step: true,
  callId: true,
  tool: true,
  arguments: true,
  assistantText: true,
  estimatedCost: true,
  confirmation: true,
  approvalId: true,
};

const MEMBER_NAMES: readonly string[] = Object.keys(MEMBERS);

/**
 * Builds the envelope of a proposal. Errors that the *model* may make (the tool's name, the
 * arguments' text) pass, because the gate refuses them so that the model hears of it.
 *
 * @throws CallgateError `invalid_input` for errors of the program.
 */
export function proposalEnvelope(call: ProposedCall): Envelope {
  const unknown = memberProblem(call, MEMBER_NAMES);
  if (unknown !== undefined) throw invalid(unknown);
  if (typeof call.tool !== "string") throw invalid("`tool` must be text");
  if (call.assistantText !== undefined && typeof call.assistantText !== "string") {
    throw invalid("`assistantText` must be text");
  }
  const envelope: Envelope = {
    tenantId: call.tenantId ?? DEFAULT_TENANT,
    conversationId: call.conversationId,
    callId: call.callId ?? randomUUID(),
    agentId: call.agentId ?? null,
    turn: countText("turn", call.turn),
    step: countText("step", call.step),
    tool: cutText(call.tool, NAME_CHARACTERS),
    arguments: bounded(argumentText(call.tool, call.arguments)),
    assistantText: boundedAssistantText(call.assistantText ?? null),
    estimatedCost: call.estimatedCost ?? null,
    confirmation: call.confirmation ?? null,
    approvalId: call.approvalId ?? null,
  };
  const problem = proposalProblem(envelope);
  if (problem !== undefined) throw invalid(problem);
  return envelope;
}

function countText(field: string, value: string | number | undefined): string | null {
  if (value === undefined || typeof value === "string") return value ?? null;
  if (Number.isSafeInteger(value)) return String(value);
  throw invalid(`\`${field}\` must be text or a whole number`);
}

/**
 * Text beyond every policy's limit is refused as `too_large` regardless of the rest, so the log
 * need not hold it.
 */
function bounded(text: string): string {
  return text.length <= GREATEST_MAX_BYTES ? text : text.slice(0, GREATEST_MAX_BYTES + 1);
}

function invalid(problem: string): CallgateError {
  return new CallgateError("invalid_input", `the call cannot be proposed: ${problem}`);
}

/**
 * Matches `services/adapters/tokens`, which is not imported here: only gates that verify tokens
 * load it.
 */
const TOKEN_HEADER = "callgate-token";

/** @throws CallgateError `invalid_input` if the program supplies no token. */
export async function tokenHeaders(
  token: ProposalToken,
  call: ProposedCall,
): Promise<readonly RecordHeader[]> {
  const value: unknown = typeof token === "string" ? token : await asked(token, call);
  if (typeof value === "string" && value !== "") return [{ name: TOKEN_HEADER, value }];
  throw new CallgateError("invalid_input", "the call cannot be proposed: `token` returned no text");
}

async function asked(token: Exclude<ProposalToken, string>, call: ProposedCall): Promise<unknown> {
  try {
    return await token(call);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `the call cannot be proposed: \`token\` threw: ${why}`;
    throw new CallgateError("invalid_input", message, { cause });
  }
}
