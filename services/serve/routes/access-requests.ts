/** Access requests of AuthZEN's Access Request and Approval Profile (ARAP). */
import { createRoute, z } from "@hono/zod-openapi";
import { requireRole } from "../access/require-role.ts";
import {
  answerTask,
  cancelTask,
  findTask,
  RequestKeys,
  submitRequest,
} from "../authzen/access-requests.ts";
import { accessRequestSchema, cancellationSchema, taskAnswerSchema } from "../schemas/authzen.ts";
import {
  DECIDED,
  idText,
  jsonAnswer,
  jsonBody,
  MISSING,
  OVER,
  optionalBody,
  PROBLEMS,
} from "../schemas/common.ts";
import type { ServeApp, ServeAppParts } from "../serve-env.ts";
import { REQUESTS_PATH, requestsUrl } from "./authzen.ts";

const TAGS = ["authzen"];
const POLL_SECONDS = "5";

const taskIdParam = z.object({
  taskId: z.string().openapi({ param: { name: "taskId", in: "path" } }),
});

const submitRoute = createRoute({
  method: "post",
  path: REQUESTS_PATH,
  operationId: "requestAccess",
  middleware: requireRole("propose"),
  summary: "Ask for the approval of a call that was denied with `access_request`",
  tags: TAGS,
  request: {
    headers: z.object({ "idempotency-key": idText().optional() }),
    body: jsonBody(accessRequestSchema),
  },
  responses: {
    201: jsonAnswer(taskAnswerSchema, "the task, which is decided already"),
    202: jsonAnswer(taskAnswerSchema, "the task, which waits for a person"),
    ...DECIDED,
    ...OVER,
    ...PROBLEMS,
  },
});

const statusRoute = createRoute({
  method: "get",
  path: `${REQUESTS_PATH}/{taskId}`,
  operationId: "getAccessRequest",
  middleware: requireRole("propose"),
  summary: "Read what became of an access request",
  tags: TAGS,
  request: { params: taskIdParam },
  responses: { 200: jsonAnswer(taskAnswerSchema, "the task"), ...MISSING, ...PROBLEMS },
});

const cancelRoute = createRoute({
  method: "post",
  path: `${REQUESTS_PATH}/{taskId}/cancel`,
  operationId: "cancelAccessRequest",
  middleware: requireRole("propose"),
  summary: "Withdraw a call that waits for a person",
  tags: TAGS,
  request: { params: taskIdParam, body: optionalBody(cancellationSchema) },
  responses: {
    200: jsonAnswer(taskAnswerSchema, "the cancelled task"),
    ...MISSING,
    ...DECIDED,
    ...PROBLEMS,
  },
});

export function addAccessRequests(app: ServeApp, parts: ServeAppParts): void {
  const { served } = parts;
  const keys = new RequestKeys(served.clock);
  app.openapi(submitRoute, async (c) => {
    const principal = c.get("principal");
    const request = c.req.valid("json");
    const key = c.req.valid("header")["idempotency-key"];
    if (key !== undefined) keys.assertSame(key, principal, request);
    const answer = answerTask(
      await submitRequest(served, principal, request),
      requestsUrl(c, parts),
    );
    c.header("Location", answer.task.status_endpoint);
    return c.json(answer, answer.task.status === "pending" ? 202 : 201);
  });
  app.openapi(statusRoute, async (c) => {
    const task = await findTask(served, c.get("principal"), c.req.valid("param").taskId);
    const answer = answerTask(task, requestsUrl(c, parts));
    if (answer.task.status === "pending") c.header("Retry-After", POLL_SECONDS);
    return c.json(answer, 200);
  });
  app.openapi(cancelRoute, async (c) => {
    const principal = c.get("principal");
    const { reason, comment } = c.req.valid("json");
    const said = [reason, comment].filter((text) => text !== undefined).join(": ");
    const { taskId } = c.req.valid("param");
    const task = await cancelTask(served, principal, taskId, said === "" ? undefined : said);
    return c.json(answerTask(task, requestsUrl(c, parts)), 200);
  });
}
