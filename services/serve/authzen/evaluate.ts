/** Evaluates one request, or a batch of them. */
import type { ProposedCall } from "../../client/api/gate-types.ts";
import type { CallHeld } from "../../core/events.ts";
import type { Principal } from "../access/principal.ts";
import { assertDecided } from "../assert-decided.ts";
import { invalidInput } from "../http/answer-problem.ts";
import { Problem, problemOf } from "../http/problem.ts";
import { readHold } from "../journal-view.ts";
import {
  type AuthzenDecision,
  type Evaluation,
  type Evaluations,
  evaluationSchema,
} from "../schemas/authzen.ts";
import { findHold, type ServedGate } from "../served-gate.ts";
import { answerDecision } from "./answer-decision.ts";
import { EVALUATIONS_MAX } from "./limits.ts";
import { mapEvaluation } from "./map-evaluation.ts";

export type EvaluationParts = {
  readonly served: ServedGate;
  readonly principal: Principal;
  readonly requestId: string;
  /** Of access requests. */
  readonly endpoint: string;
};

/** @throws Problem, CallgateError where there is no decision */
export async function evaluate(
  parts: EvaluationParts,
  evaluation: Evaluation,
): Promise<AuthzenDecision> {
  const { served, principal, requestId, endpoint } = parts;
  const call = mapEvaluation(evaluation, requestId, principal);
  const approvalId = evaluation.context?.approval?.id;
  const held = approvalId === undefined ? undefined : await approvedCall(parts, approvalId);
  if (held === null) return unverifiable();
  const proposed = held === undefined ? call : sameCall(call, held);
  if (proposed === null) return outOfScope();
  const decision = await served.gate.propose(proposed);
  assertDecided(decision);
  const isConflict = decision.refusal?.reason === "call_id_conflict";
  if (held !== undefined && isConflict) return outOfScope();
  return answerDecision(decision, proposed, { nowMs: served.clock.nowMs(), endpoint, approvalId });
}

/** The call that was held under the id; null: the principal knows of none. */
async function approvedCall(
  { served, principal }: EvaluationParts,
  approvalId: string,
): Promise<CallHeld | null> {
  try {
    const call = await findHold(served, approvalId, principal);
    return (await readHold(served, call, approvalId)) ?? null;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/**
 * The call under the names of the held one, so that it is the held one if its content is the same;
 * null where another subject asks.
 */
function sameCall(call: ProposedCall, held: CallHeld): ProposedCall | null {
  const { tenantId, conversationId } = held;
  const { agentId, callId, turn, step } = held.call;
  if (tenantId !== call.tenantId || agentId !== (call.agentId ?? null)) return null;
  return {
    ...call,
    ...{ tenantId, conversationId, callId },
    ...{ turn: turn ?? undefined, step: step ?? undefined },
  };
}

/** A reference that is not about this request gives no permission, whoever approved what. */
function outOfScope(): AuthzenDecision {
  const message = "The approval is about another call.";
  return { decision: false, context: { reason: "out_of_scope", message, next_action: "none" } };
}

function unverifiable(): AuthzenDecision {
  const message = "There is no such approval.";
  const reason = "approval_unverifiable";
  return { decision: false, context: { reason, message, next_action: "none" } };
}

/** One after the other, in the order of the request. */
export async function evaluateAll(
  parts: EvaluationParts,
  { evaluations = [], options, ...defaults }: Evaluations,
): Promise<readonly AuthzenDecision[]> {
  if (evaluations.length > EVALUATIONS_MAX) throw tooMany(evaluations.length);
  const semantic = options?.evaluations_semantic ?? "execute_all";
  const answers: AuthzenDecision[] = [];
  for (const [index, item] of evaluations.entries()) {
    const answer = await evaluateItem(parts, defaults, item, index);
    answers.push(answer);
    if (semantic === "deny_on_first_deny" && !answer.decision) break;
    if (semantic === "permit_on_first_permit" && answer.decision) break;
  }
  return answers;
}

/** What fails is not allowed; the others are evaluated all the same. */
async function evaluateItem(
  parts: EvaluationParts,
  defaults: Omit<Evaluations, "evaluations" | "options">,
  item: Readonly<Record<string, unknown>>,
  index: number,
): Promise<AuthzenDecision> {
  try {
    const parsed = evaluationSchema.safeParse({ ...defaults, ...item });
    if (!parsed.success) throw invalidInput("json", parsed.error.issues);
    const requestId = `${parts.requestId}#${index}`;
    return await evaluate({ ...parts, requestId }, parsed.data);
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    const { status, code, detail: message } = problem;
    return { decision: false, context: { reason: code, error: { status, code, message } } };
  }
}

function tooMany(count: number): Problem {
  return new Problem({
    status: 400,
    code: "invalid_input",
    detail: `${count} evaluations are more than ${EVALUATIONS_MAX}`,
    at: "body.evaluations",
    remedy: "Send several requests",
  });
}
