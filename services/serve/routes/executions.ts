import { createRoute } from "@hono/zod-openapi";
import type { JudgedReport } from "../../client/inputs/report.ts";
import { requireRole } from "../access/require-role.ts";
import { Executions } from "../executions/executions.ts";
import {
  releaseExecution,
  renewExecution,
  reportExecution,
  type WorkerRequest,
} from "../executions/held-execution.ts";
import type { JournalTail } from "../journal/journal-tail.ts";
import {
  jsonAnswer,
  jsonBody,
  MISSING,
  optionalBody,
  PROBLEMS,
  TOO_LATE,
} from "../schemas/common.ts";
import {
  claimSchema,
  executionIdParam,
  executionReportSchema,
  executionsSchema,
  leaseSchema,
  releasedSchema,
  releaseSchema,
  renewSchema,
} from "../schemas/execution.ts";
import { reportOutcomeSchema } from "../schemas/result.ts";
import type { ServeApp, ServeAppParts, ServeContext } from "../serve-env.ts";

const ANSWERS = { ...MISSING, ...TOO_LATE, ...PROBLEMS };
const middleware = requireRole("execute");
const tags = ["executions"];

const claimRoute = createRoute({
  method: "post",
  path: "/v1/executions",
  operationId: "claimExecutions",
  middleware,
  summary: "Claim allowed calls of some tools, to run them",
  tags,
  request: { body: jsonBody(claimSchema) },
  responses: {
    200: jsonAnswer(executionsSchema, "the calls to run now; none if none came in time"),
    ...PROBLEMS,
  },
});

const renewRoute = createRoute({
  method: "post",
  path: "/v1/executions/{executionId}/renew",
  operationId: "renewExecution",
  middleware,
  summary: "Renew the lease of a call that still runs",
  tags,
  request: { params: executionIdParam, body: optionalBody(renewSchema) },
  responses: { 200: jsonAnswer(leaseSchema, "the lease is renewed"), ...ANSWERS },
});

const releaseRoute = createRoute({
  method: "post",
  path: "/v1/executions/{executionId}/release",
  operationId: "releaseExecution",
  middleware,
  summary: "Give back a call that was not begun, for another worker",
  tags,
  request: { params: executionIdParam, body: optionalBody(releaseSchema) },
  responses: { 200: jsonAnswer(releasedSchema, "another worker may get the call"), ...ANSWERS },
});

const resultRoute = createRoute({
  method: "post",
  path: "/v1/executions/{executionId}/result",
  operationId: "reportExecution",
  middleware,
  summary: "Report how a claimed call ended",
  tags,
  request: { params: executionIdParam, body: jsonBody(executionReportSchema) },
  responses: { 200: jsonAnswer(reportOutcomeSchema, "the report is recorded"), ...ANSWERS },
});

export function addExecutions(
  app: ServeApp,
  { served, ending }: ServeAppParts,
  tail: JournalTail,
): void {
  const executions = new Executions({ served, tail, ending });
  const requestOf = (c: ServeContext, executionId: string): WorkerRequest => {
    return { served, executions, executionId, principal: c.get("principal") };
  };
  app.openapi(claimRoute, async (c) => {
    const body = c.req.valid("json");
    const claimed = await executions.claim(c.get("principal"), body, c.req.raw.signal);
    return c.json({ executions: claimed }, 200);
  });
  app.openapi(renewRoute, async (c) => {
    const { executionId } = c.req.valid("param");
    const { leaseSeconds } = c.req.valid("json");
    const leaseExpiresAt = await renewExecution(requestOf(c, executionId), leaseSeconds);
    return c.json({ executionId, leaseExpiresAt }, 200);
  });
  app.openapi(releaseRoute, async (c) => {
    const { executionId } = c.req.valid("param");
    await releaseExecution(requestOf(c, executionId));
    return c.json({ executionId, released: true as const }, 200);
  });
  app.openapi(resultRoute, async (c) => {
    const { executionId } = c.req.valid("param");
    const report = c.req.valid("json") as JudgedReport;
    return c.json(await reportExecution(requestOf(c, executionId), report), 200);
  });
}
