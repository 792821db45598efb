/** Maps an evaluation to a proposed call; docs/authzen.md publishes the mapping. */
import { createHash } from "node:crypto";
import type { ProposedCall } from "../../client/api/gate-types.ts";
import type { Principal } from "../access/principal.ts";
import { Problem } from "../http/problem.ts";
import { type CallNames, speakFor } from "../proposed-call.ts";
import type { Evaluation } from "../schemas/authzen.ts";

/** The action that an MCP gateway names: the resource is the tool. */
const TOOL_CALL = "tools/call";

/**
 * @param requestId the `X-Request-ID`, or what the server made instead of it
 * @throws Problem 403 where the credential does not vouch for the subject
 */
export function mapEvaluation(
  evaluation: Evaluation,
  requestId: string,
  principal: Principal,
): ProposedCall {
  const { subject, context = {} } = evaluation;
  const callId = context.call_id ?? nameRequest(evaluation, requestId);
  const conversationId =
    context.conversation_id ?? principal.conversationId ?? `request-${callId}`.slice(0, ID_MAX);
  assertVouched(principal, subject.id);
  const names: CallNames = {
    conversationId,
    agentId: principal.platform ? subject.id : undefined,
    tenantId: context.tenant_id,
    turn: context.turn,
  };
  return {
    ...speakFor(principal, names, "body"),
    // With a step, an id that comes with other content is a conflict and not another call.
    ...{ callId, step: context.step ?? callId, turn: context.turn },
    ...mapCall(evaluation),
  };
}

/** Tool and arguments. */
export function mapCall({ subject, action, resource, context }: Evaluation) {
  const args = context?.arguments ?? {};
  if (resource.type === "tool" && action.name === TOOL_CALL) {
    return { tool: resource.id, arguments: args };
  }
  const tool = `${resource.type}/${action.name}`;
  const { arguments: stated } = context ?? {};
  return {
    tool,
    arguments: {
      subject,
      action,
      resource,
      ...(stated === undefined ? {} : { arguments: stated }),
    },
  };
}

const ID_MAX = 256;

/**
 * The id of a call that came without one. It covers the content too: some gateways send the id of
 * one request with several evaluations.
 */
function nameRequest(evaluation: Evaluation, requestId: string): string {
  const { subject, action, resource, context } = evaluation;
  const { approval: _approval, ...rest } = context ?? {};
  const text = JSON.stringify([requestId, subject, action, resource, rest]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** The subject is the agent, and nobody may state to be another. */
function assertVouched({ platform, agentId, name }: Principal, subjectId: string): void {
  if (platform || agentId === subjectId) return;
  const detail =
    agentId === null
      ? `\`${name}\` may not say who the subject is`
      : `the token is for the agent \`${agentId}\`, and the subject is another`;
  throw new Problem({
    status: 403,
    code: agentId === null ? "platform_only" : "other_subject",
    detail,
    at: "body.subject.id",
    remedy:
      "Use a token that `callgate token create --role propose --platform` made, or one with `--agent` for this subject",
  });
}
