import { createRoute, type z } from "@hono/zod-openapi";
import type { ReportOutcome } from "../../client/api/gate-types.ts";
import type { JudgedReport } from "../../client/inputs/report.ts";
import { claimName } from "../../client/journal/recent-calls.ts";
import type { DecisionEvent } from "../../core/events.ts";
import { requireRole } from "../access/require-role.ts";
import { Problem } from "../http/problem.ts";
import {
  decisionIdParam,
  jsonAnswer,
  jsonBody,
  MISSING,
  PROBLEMS,
  waitQuery,
} from "../schemas/common.ts";
import { decisionSchema } from "../schemas/decision.ts";
import { reportOutcomeSchema, reportSchema, storedResultSchema } from "../schemas/result.ts";
import type { ServeApp, ServeAppParts } from "../serve-env.ts";
import { findCall, type ServedGate } from "../served-gate.ts";
import { decidedWithin, showTo } from "../show-decision.ts";

const MS_PER_SECOND = 1_000;

const readRoute = createRoute({
  method: "get",
  path: "/v1/decisions/{decisionId}",
  operationId: "getDecision",
  middleware: requireRole("read", "propose", "execute"),
  summary: "Look a decision up, or wait for the verdict on a held call",
  tags: ["calls"],
  request: { params: decisionIdParam, query: waitQuery },
  responses: {
    200: jsonAnswer(decisionSchema, "the decision; `held` while nobody has answered"),
    ...MISSING,
    ...PROBLEMS,
  },
});

const reportRoute = createRoute({
  method: "post",
  path: "/v1/decisions/{decisionId}/result",
  operationId: "report",
  middleware: requireRole("propose", "execute"),
  summary: "Report how an allowed call ended",
  tags: ["calls"],
  request: { params: decisionIdParam, body: jsonBody(reportSchema) },
  responses: {
    200: jsonAnswer(reportOutcomeSchema, "whether the report changed anything"),
    ...MISSING,
    ...PROBLEMS,
  },
});

const resultRoute = createRoute({
  method: "get",
  path: "/v1/results/{decisionId}",
  operationId: "getResult",
  middleware: requireRole("read", "propose", "execute"),
  summary: "Read how an allowed call ended, or wait until it does",
  tags: ["calls"],
  request: { params: decisionIdParam, query: waitQuery },
  responses: {
    200: jsonAnswer(storedResultSchema, "the result"),
    ...MISSING,
    ...PROBLEMS,
  },
});

export function addDecisions(app: ServeApp, { served, ending }: ServeAppParts): void {
  app.openapi(readRoute, async (c) => {
    const principal = c.get("principal");
    const { decisionId } = c.req.valid("param");
    const waitMs = (c.req.valid("query").wait ?? 0) * MS_PER_SECOND;
    await findCall(served, decisionId, principal);
    const event = await decisionEvent(served, decisionId);
    const now = showTo(served, principal, event);
    const decision =
      event.type === "held"
        ? await decidedWithin(waitMs, now, async () =>
            showTo(
              served,
              principal,
              await served.client.reader.awaitDecision(decisionId, {
                timeoutMs: waitMs,
                signal: ending,
              }),
            ),
          )
        : now;
    return c.json(decision, 200);
  });
  app.openapi(reportRoute, async (c) => {
    const principal = c.get("principal");
    const { decisionId } = c.req.valid("param");
    await findCall(served, decisionId, principal);
    return c.json(await report(served, decisionId, c.req.valid("json")), 200);
  });
  app.openapi(resultRoute, async (c) => {
    const principal = c.get("principal");
    const { decisionId } = c.req.valid("param");
    await findCall(served, decisionId, principal);
    const waitMs = (c.req.valid("query").wait ?? 0) * MS_PER_SECOND;
    const result =
      (await served.gate.previousResult(decisionId)) ??
      (waitMs === 0
        ? undefined
        : await served.gate.awaitResult(decisionId, { timeoutMs: waitMs, signal: ending }));
    if (result === undefined) throw noResult(decisionId);
    return c.json(result, 200);
  });
}

async function decisionEvent({ client }: ServedGate, decisionId: string): Promise<DecisionEvent> {
  const event = await client.reader.decisionOf(decisionId, client.timeFor(decisionId));
  if (event !== undefined) return event;
  throw new Problem({
    status: 404,
    code: "unknown_decision",
    detail: `the journal no longer has the decision \`${decisionId}\``,
    remedy: "Keep what you still need, or raise how long the journal is kept",
  });
}

type ReportBody = z.output<typeof reportSchema>;

async function report(
  { client }: ServedGate,
  decisionId: string,
  { by, ...body }: ReportBody,
): Promise<ReportOutcome> {
  if (body.status !== "started" || by === undefined) {
    return client.reportJudged(decisionId, body as JudgedReport);
  }
  const name = claimName(by);
  const time = client.timeFor(decisionId);
  const outcome = await client.claim(decisionId, name, time);
  if (outcome.recorded || outcome.why !== "already_reported") return outcome;
  // The answer to an earlier claim under this name may have been lost.
  const start = await client.reader.startOf(decisionId, time);
  const isOver = (await client.reader.endOf(decisionId, time)) !== undefined;
  return start?.by === name && !isOver ? { recorded: true, status: "started" } : outcome;
}

function noResult(decisionId: string): Problem {
  return new Problem({
    status: 404,
    code: "no_result",
    detail: `nobody has reported how \`${decisionId}\` ended`,
    remedy: "Wait for it with `?wait=30`",
  });
}
