import { createRoute, z } from "@hono/zod-openapi";
import type { ProposedCall } from "../../client/api/gate-types.ts";
import type { RecordHeader } from "../../runtime/ports.ts";
import type { Principal } from "../access/principal.ts";
import { requireRole } from "../access/require-role.ts";
import { assertDecided } from "../assert-decided.ts";
import { Problem } from "../http/problem.ts";
import { speakFor } from "../proposed-call.ts";
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
    assertDecided(decision);
    if (decision.outcome !== "held" || waitMs === 0) return c.json(decision, 200);
    return c.json(
      await decidedWithin(waitMs, decision, () =>
        served.gate.awaitDecision(decision.decisionId, { timeoutMs: waitMs, signal: ending }),
      ),
      200,
    );
  });
}

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
  return { ...rest, callId, ...speakFor(principal, body, "body") };
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
