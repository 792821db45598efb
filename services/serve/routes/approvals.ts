import { createRoute, z } from "@hono/zod-openapi";
import { CallgateError } from "../../client/api/callgate-error.ts";
import type { Approval, Decision } from "../../client/api/gate-types.ts";
import type { JournaledCall } from "../../client/journal/recent-calls.ts";
import type { CallHeld, DecisionEvent } from "../../core/events.ts";
import { isSameSpeaker } from "../../core/speaker.ts";
import { maySee, type Principal } from "../access/principal.ts";
import { requireRole } from "../access/require-role.ts";
import { Problem } from "../http/problem.ts";
import { pendingView, readEarlierCalls, readHold } from "../journal-view.ts";
import {
  approvalSchema,
  pendingListSchema,
  shownApprovalSchema,
  verdictSchema,
} from "../schemas/approval.ts";
import {
  approvalIdParam,
  DECIDED,
  jsonAnswer,
  MISSING,
  optionalBody,
  PROBLEMS,
} from "../schemas/common.ts";
import { decisionSchema } from "../schemas/decision.ts";
import type { ServeApp, ServeAppParts } from "../serve-env.ts";
import { findHold, type ServedGate } from "../served-gate.ts";
import { showTo } from "../show-decision.ts";

const listRoute = createRoute({
  method: "get",
  path: "/v1/approvals",
  operationId: "listApprovals",
  middleware: requireRole("read", "approve"),
  summary: "List the calls that wait for a person, the oldest first",
  tags: ["approvals"],
  request: {
    query: z.object({
      tenantId: z
        .string()
        .optional()
        .openapi({ param: { name: "tenantId", in: "query" } }),
      conversationId: z
        .string()
        .optional()
        .openapi({ param: { name: "conversationId", in: "query" } }),
    }),
  },
  responses: { 200: jsonAnswer(pendingListSchema, "the waiting calls"), ...PROBLEMS },
});

const showRoute = createRoute({
  method: "get",
  path: "/v1/approvals/{approvalId}",
  operationId: "getApproval",
  middleware: requireRole("read", "approve"),
  summary: "Show a held call, what happened before it, and what became of it",
  tags: ["approvals"],
  request: { params: approvalIdParam },
  responses: {
    200: jsonAnswer(shownApprovalSchema, "the held call"),
    ...MISSING,
    ...PROBLEMS,
  },
});

const verdictAnswers = {
  200: jsonAnswer(decisionSchema, "the decision; `held` if others must approve as well"),
  ...MISSING,
  ...DECIDED,
  ...PROBLEMS,
};

const approveRoute = createRoute({
  method: "post",
  path: "/v1/approvals/{approvalId}/approve",
  operationId: "approve",
  middleware: requireRole("approve"),
  summary: "Let a held call run, after the gate has checked it again",
  tags: ["approvals"],
  request: { params: approvalIdParam, body: optionalBody(approvalSchema) },
  responses: verdictAnswers,
});

const denyRoute = createRoute({
  method: "post",
  path: "/v1/approvals/{approvalId}/deny",
  operationId: "deny",
  middleware: requireRole("approve"),
  summary: "Refuse a held call for good",
  tags: ["approvals"],
  request: { params: approvalIdParam, body: optionalBody(verdictSchema) },
  responses: verdictAnswers,
});

export function addApprovals(app: ServeApp, { served }: ServeAppParts): void {
  app.openapi(listRoute, async (c) => {
    const principal = c.get("principal");
    const all = await served.gate.pending(plain(c.req.valid("query")));
    return c.json({ approvals: all.filter((one) => maySee(principal, one)) }, 200);
  });
  app.openapi(showRoute, async (c) => {
    const principal = c.get("principal");
    const { approvalId } = c.req.valid("param");
    return c.json(await showApproval(served, approvalId, principal), 200);
  });
  app.openapi(approveRoute, async (c) => {
    const { approvalId } = c.req.valid("param");
    const principal = c.get("principal");
    return c.json(await decide(served, "approve", approvalId, principal, c.req.valid("json")), 200);
  });
  app.openapi(denyRoute, async (c) => {
    const { approvalId } = c.req.valid("param");
    const principal = c.get("principal");
    return c.json(await decide(served, "deny", approvalId, principal, c.req.valid("json")), 200);
  });
}

/** Leaves out members without a value. */
function plain<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

async function showApproval(served: ServedGate, approvalId: string, principal: Principal) {
  const call = await findHold(served, approvalId, principal);
  const held = await readHold(served, call, approvalId);
  if (held === undefined) throw gone(approvalId);
  const waiting = (await served.gate.pending(conversationOf(call))).find(
    (one) => one.approvalId === approvalId,
  );
  const latest = await latestDecision(served, call.decisionId);
  const end = latest === undefined || isSameHold(latest, approvalId) ? null : latest;
  const conversation = await readEarlierCalls(served, held, call.position.partition);
  return {
    ...pendingView(held, waiting?.approvedBy ?? end?.approval.approvedBy ?? []),
    state: end === null ? ("waiting" as const) : stateOf(end),
    decision: end === null ? null : showTo(served, principal, end),
    conversation,
  };
}

function conversationOf({ tenantId, conversationId }: JournaledCall) {
  return { tenantId, conversationId };
}

function stateOf(end: DecisionEvent): "allowed" | "refused" | "held_anew" {
  return end.type === "held" ? "held_anew" : end.type;
}

function isSameHold(event: DecisionEvent, approvalId: string): boolean {
  return event.type === "held" && (event as CallHeld).holdId === approvalId;
}

function latestDecision({ client }: ServedGate, decisionId: string) {
  return client.reader.decisionOf(decisionId, client.timeFor(decisionId));
}

/** @throws Problem 404, 409 where it is decided, 403 for the agent that proposed the call */
async function decide(
  served: ServedGate,
  kind: "approve" | "deny",
  approvalId: string,
  principal: Principal,
  body: { readonly reason?: string | undefined; readonly further?: unknown },
): Promise<Decision> {
  const call = await findHold(served, approvalId, principal);
  const held = await readHold(served, call, approvalId);
  if (held === undefined) throw gone(approvalId);
  assertOther(principal, held);
  const verdict = { ...plain(body), by: principal.name } as Approval;
  try {
    const { decisionId } = await served.gate[kind](approvalId, verdict);
    // Read again: what the gate returns has the key of the call, which is not for everybody.
    const event = await latestDecision(served, decisionId ?? call.decisionId);
    if (event === undefined) throw gone(approvalId);
    return showTo(served, principal, event);
  } catch (error) {
    if (!(error instanceof CallgateError && error.code === "unknown_approval")) throw error;
    throw (await decidedAlready(served, call.decisionId, approvalId)) ?? error;
  }
}

/** An agent must not answer for its own call, under whatever name its credential has. */
function assertOther({ agentId, tokenId }: Principal, { call }: CallHeld): void {
  if (agentId === null || call.agentId === null || !isSameSpeaker(agentId, call.agentId)) return;
  throw new Problem({
    status: 403,
    code: "self_approval",
    detail: `the token \`${tokenId}\` belongs to the agent that proposed the call`,
    remedy: "Somebody else must answer",
  });
}

async function decidedAlready(served: ServedGate, decisionId: string, approvalId: string) {
  const latest = await latestDecision(served, decisionId);
  if (latest === undefined || isSameHold(latest, approvalId)) return undefined;
  const by = latest.approval.approvedBy.join(" and ");
  const what = latest.type === "held" ? "held anew under another rule" : latest.type;
  return new Problem({
    status: 409,
    code: "already_decided",
    detail: `the call is ${what}${by === "" ? "" : `, answered by ${by}`}`,
    remedy: `Read the decision with GET /v1/decisions/${decisionId}`,
  });
}

function gone(approvalId: string): Problem {
  return new Problem({
    status: 410,
    code: "approval_forgotten",
    detail: `the journal no longer has the call that was held under \`${approvalId}\``,
    remedy: "Nothing can be done with it: it expired long ago",
  });
}
