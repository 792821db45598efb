/**
 * Access requests: the task of a held call. The hold exists since the denial, so that a request adds
 * nothing to it, and repeating one is harmless; the state of a task is that of its call.
 */
import { createHash } from "node:crypto";
import type { CallHeld, DecisionEvent } from "../../core/events.ts";
import type { Clock } from "../../runtime/ports.ts";
import { maySee, type Principal } from "../access/principal.ts";
import { Problem, type ProblemStatus } from "../http/problem.ts";
import { readHold } from "../journal-view.ts";
import type { AccessRequest, TaskAnswer } from "../schemas/authzen.ts";
import { findHold, type ServedGate } from "../served-gate.ts";
import { timestampOf } from "./answer-decision.ts";
import { mapCall } from "./map-evaluation.ts";

type Task = {
  readonly held: CallHeld;
  /** The latest decision on the call. */
  readonly latest: DecisionEvent;
};

/**
 * The task of a denial. @throws Problem 400 if the request is not about a held call, 410 if its time
 * is over
 */
export async function submitRequest(
  served: ServedGate,
  principal: Principal,
  request: AccessRequest,
): Promise<Task> {
  const decisionId = request.denial.evaluation_id;
  const held = await holdOf(served, principal, decisionId);
  const latest = await latestOf(served, decisionId);
  if (served.clock.nowMs() > held.expiresAtMs) {
    const detail = `the call was held until ${timestampOf(held.expiresAtMs)}`;
    throw accessProblem("expired_denial", 410, detail, "Evaluate the call again");
  }
  await assertSameCall(served, principal, request, held);
  return { held, latest: latest.type === "held" ? await latestOf(served, decisionId) : latest };
}

async function holdOf(
  served: ServedGate,
  principal: Principal,
  decisionId: string,
): Promise<CallHeld> {
  const call = await served.client.reader.find(decisionId, served.client.timeFor(decisionId));
  if (call === undefined || !maySee(principal, call)) {
    throw unbound(`there is no evaluation \`${decisionId}\``);
  }
  const event = await latestOf(served, decisionId);
  if (event.type === "held") return event;
  const { approvalId } = event.approval;
  if (approvalId === null) {
    const detail = `the call of \`${decisionId}\` was ${event.type}, and no person was asked`;
    throw accessProblem("not_requestable", 400, detail, "Request what was held alone");
  }
  const hold = await findHold(served, approvalId, principal);
  const held = await readHold(served, hold, approvalId);
  if (held === undefined) throw unbound(`the journal no longer has \`${decisionId}\``);
  return held;
}

/** The gate compares: under the same names, only the same content gets the recorded decision. */
async function assertSameCall(
  served: ServedGate,
  principal: Principal,
  request: AccessRequest,
  held: CallHeld,
): Promise<void> {
  const { tenantId, conversationId, decisionId } = held;
  const { callId, turn, step, agentId } = held.call;
  const isSubject = agentId === null || agentId === request.subject.id;
  const mayAct = principal.platform || principal.agentId === request.subject.id;
  if (!isSubject || !mayAct) throw unbound("the subject is another than that of the evaluation");
  const decision = await served.gate.propose({
    ...{ tenantId, conversationId, callId, agentId: agentId ?? undefined },
    ...{ turn: turn ?? undefined, step: step ?? undefined },
    ...mapCall(request),
  });
  if (decision.decisionId === decisionId) return;
  throw unbound("action, resource or arguments are others than those of the evaluation");
}

/** @throws Problem 404 if the principal knows of no such task */
export async function findTask(
  served: ServedGate,
  principal: Principal,
  taskId: string,
): Promise<Task> {
  const hold = await findHold(served, taskId, principal).catch((error: unknown) => {
    if (error instanceof Problem) throw unknownTask(taskId);
    throw error;
  });
  const held = await readHold(served, hold, taskId);
  if (held === undefined) throw unknownTask(taskId);
  return { held, latest: await latestOf(served, held.decisionId) };
}

/** Withdraws the call of a task that is pending. @throws Problem 404, 409 */
export async function cancelTask(
  served: ServedGate,
  principal: Principal,
  taskId: string,
  reason: string | undefined,
): Promise<Task> {
  const task = await findTask(served, principal, taskId);
  if (task.latest.type !== "held") {
    const detail = `the task is ${statusOf(task.latest)}`;
    throw accessProblem("invalid_task_state", 409, detail, "Read the task: it is decided");
  }
  const { holdId } = task.latest;
  await served.gate.cancel(holdId, {
    by: principal.name,
    ...(reason === undefined ? {} : { reason }),
  });
  return findTask(served, principal, taskId);
}

async function latestOf(served: ServedGate, decisionId: string): Promise<DecisionEvent> {
  const { client } = served;
  const event = await client.reader.decisionOf(decisionId, client.timeFor(decisionId));
  if (event === undefined) throw unbound(`the journal no longer has \`${decisionId}\``);
  return event;
}

/** @param base URL of the endpoint */
export function answerTask({ held, latest }: Task, endpoint: string): TaskAnswer {
  const status = statusOf(latest);
  const status_endpoint = `${endpoint}/${held.holdId}`;
  const task = { id: held.holdId, status, status_endpoint };
  if (latest.type === "held") {
    const expires_at = timestampOf(latest.expiresAtMs);
    return { task: { ...task, expires_at, links: { cancel: `${status_endpoint}/cancel` } } };
  }
  if (latest.type !== "allowed") return { task };
  const approval = {
    id: held.holdId,
    approved_at: timestampOf(latest.times.atMs),
    approved_until: timestampOf(latest.notAfterMs),
  };
  return { task, result: { mode: "reevaluate", approval } };
}

/** `failed`: a person approved, and then a check of the policy found a reason to refuse. */
function statusOf(latest: DecisionEvent): TaskAnswer["task"]["status"] {
  if (latest.type === "held") return "pending";
  if (latest.type === "allowed") return "approved";
  const { refusal, denial } = latest;
  if (refusal.reason === "approval_expired") return "expired";
  if (refusal.reason !== "approval_denied") return "failed";
  return denial === null ? "cancelled" : "denied";
}

const KEYS_MAX = 10_000;
/** The profile wants a day after the end of the task. */
const KEY_MS = 25 * 60 * 60 * 1_000;

/**
 * Requests by their `Idempotency-Key`, so that a key is not used for two. They live as long as the
 * process: a lost key does no harm, because a request changes nothing.
 */
export class RequestKeys {
  readonly #digests = new Map<string, { readonly digest: string; readonly untilMs: number }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws Problem 409 if the key belongs to another request of the same principal */
  assertSame(key: string, { tokenId, name }: Principal, request: AccessRequest): void {
    const id = JSON.stringify([tokenId ?? name, key]);
    const digest = createHash("sha256").update(JSON.stringify(request)).digest("hex");
    const nowMs = this.#clock.nowMs();
    const used = this.#digests.get(id);
    if (used !== undefined && used.untilMs > nowMs && used.digest !== digest) {
      const detail = `the key \`${key}\` belongs to another request`;
      throw accessProblem("duplicate_request", 409, detail, "Use a new `Idempotency-Key`");
    }
    const [oldest] = this.#digests.keys();
    if (this.#digests.size >= KEYS_MAX && oldest !== undefined) this.#digests.delete(oldest);
    this.#digests.set(id, { digest, untilMs: nowMs + KEY_MS });
  }
}

function unbound(detail: string): Problem {
  const remedy = "Send subject, action, resource and context as they were evaluated";
  return accessProblem("invalid_denial_binding", 400, detail, remedy);
}

function unknownTask(taskId: string): Problem {
  const remedy = "Use the `task.status_endpoint` of an answer";
  return accessProblem("unknown_task", 404, `there is no task \`${taskId}\``, remedy);
}

/** A problem whose type the profile defines. */
function accessProblem(
  code: string,
  status: ProblemStatus,
  detail: string,
  remedy: string,
): Problem {
  const type = `urn:openid:authzen:access-request:error:${code}`;
  return new Problem({ status, code, type, detail, remedy });
}
