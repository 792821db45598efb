import { createRoute, z } from "@hono/zod-openapi";
import type { Decision, ProposedCall, RefusedDecision } from "../../client/api/gate-types.ts";
import type { RecordHeader } from "../../runtime/ports.ts";
import { DEFAULT_TENANT, type Principal } from "../access/principal.ts";
import { requireRole } from "../access/require-role.ts";
import { Problem } from "../http/problem.ts";
import { jsonAnswer, jsonBody, PROBLEMS, WAIT_SECONDS_MAX } from "../schemas/common.ts";
import { decisionSchema } from "../schemas/decision.ts";
import { type ProposalBody, proposalSchema } from "../schemas/proposal.ts";
import type { ServeApp, ServeAppParts } from "../serve-env.ts";
import { decidedWithin } from "../show-decision.ts";

const route = createRoute({
  method: "post",
  path: "/v1/proposals",
  operationId: "propose",
  middleware: requireRole("propose"),
  summary: "Ask whether a call may run",
  tags: ["calls"],
  request: {
    headers: z.object({
      "idempotency-key": z
        .string()
        .optional()
        .openapi({ description: "another name for `callId`" }),
      prefer: z
        .string()
        .optional()
        .openapi({ description: "`wait=30` waits 30 seconds for the verdict on a held call" }),
    }),
    body: jsonBody(proposalSchema),
  },
  responses: {
    200: jsonAnswer(decisionSchema, "the decision: allowed, refused or held"),
    ...PROBLEMS,
  },
});

export function addProposals(app: ServeApp, { served, ending }: ServeAppParts): void {
  app.openapi(route, async (c) => {
    const principal = c.get("principal");
    const { "idempotency-key": key, prefer } = c.req.valid("header");
    const call = proposedCall(c.req.valid("json"), key, principal);
    const waitMs = waitOf(prefer);
    const { decision } = await served.client.propose(
      call,
      traceHeaders((name) => c.req.header(name)),
    );
    if (isUnavailable(decision)) throw unavailable(decision);
    if (decision.outcome !== "held" || waitMs === 0) return c.json(decision, 200);
    return c.json(
      await decidedWithin(waitMs, decision, () =>
        served.gate.awaitDecision(decision.decisionId, { timeoutMs: waitMs, signal: ending }),
      ),
      200,
    );
  });
}

/**
 * What only a platform knows comes from the credential; a body that states it without the right to is
 * refused, so that nobody believes that it was taken.
 */
function proposedCall(
  body: ProposalBody,
  idempotencyKey: string | undefined,
  principal: Principal,
): ProposedCall {
  const { callId = idempotencyKey, ...rest } = body;
  if (idempotencyKey !== undefined && callId !== idempotencyKey) {
    throw new Problem({
      status: 400,
      code: "invalid_input",
      detail: "`callId` and the header `Idempotency-Key` name two calls",
      at: "Idempotency-Key",
      remedy: "Send one of them",
    });
  }
  if (!principal.platform) assertNoPlatformWords(body);
  const tenantId = boundName("tenantId", body.tenantId, principal.tenantId) ?? DEFAULT_TENANT;
  const agentId = boundName("agentId", body.agentId, principal.agentId);
  boundName("conversationId", body.conversationId, principal.conversationId);
  return { ...rest, callId, tenantId, agentId };
}

const PLATFORM_WORDS = ["turn", "tenantId", "agentId", "confirmation", "estimatedCost"] as const;

function assertNoPlatformWords(body: ProposalBody): void {
  const word = PLATFORM_WORDS.find((name) => body[name] !== undefined);
  if (word === undefined) return;
  throw new Problem({
    status: 403,
    code: "platform_only",
    detail: `\`${word}\` is what a platform states about a call, and this request is not from one`,
    at: `body.${word}`,
    remedy: `Leave it out, or use a token that \`callgate token create --role propose --platform\` made`,
  });
}

/** @throws Problem 403 if the body names another than the credential is bound to */
function boundName(
  name: "tenantId" | "agentId" | "conversationId",
  stated: string | undefined,
  bound: string | null,
): string | undefined {
  if (bound === null || stated === undefined || stated === bound) return bound ?? stated;
  throw new Problem({
    status: 403,
    code: "other_subject",
    detail: `the token is for the ${name} \`${bound}\`, and the body names another`,
    at: `body.${name}`,
    remedy: "Use a token for it, or leave the member out",
  });
}

/** The headers of W3C Trace Context, which go with the proposal. */
function traceHeaders(read: (name: string) => string | undefined): readonly RecordHeader[] {
  const traceparent = read("traceparent");
  if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return [];
  const tracestate = read("tracestate");
  const parent = { name: "traceparent", value: traceparent };
  if (tracestate === undefined || tracestate.length > TRACESTATE_MAX) return [parent];
  return [parent, { name: "tracestate", value: tracestate }];
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const TRACESTATE_MAX = 512;

/** Milliseconds of `Prefer: wait=<seconds>` (RFC 7240). */
function waitOf(prefer: string | undefined): number {
  const seconds = Number(/(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])/.exec(prefer ?? "")?.[1] ?? 0);
  return Math.min(seconds, WAIT_SECONDS_MAX) * 1_000;
}

function isUnavailable(decision: Decision): decision is RefusedDecision {
  return decision.outcome === "refused" && decision.refusal.reason === "gate_unavailable";
}

function unavailable({ refusal, callId }: RefusedDecision): Problem {
  const { detail = "timeout", problem } = refusal;
  return new Problem({
    status: 503,
    code: "gate_unavailable",
    detail: `the gate did not decide (${detail})${problem === undefined ? "" : `: ${problem}`}`,
    remedy: `Send the proposal again with \`callId\`: \`${callId}\`. Until then the call is not allowed`,
    retryAfter: 1,
  });
}
