/** The Authorization API 1.0 (AuthZEN): a second way to propose calls. */
import { createRoute, z } from "@hono/zod-openapi";
import { requireRole } from "../access/require-role.ts";
import { evaluate, evaluateAll } from "../authzen/evaluate.ts";
import { invalidInput } from "../http/answer-problem.ts";
import { type PublicUrlParts, readPublicUrl } from "../http/public-url.ts";
import {
  authzenDecisionSchema,
  authzenDecisionsSchema,
  evaluationSchema,
  evaluationsSchema,
  metadataSchema,
} from "../schemas/authzen.ts";
import { jsonAnswer, jsonBody, PROBLEMS } from "../schemas/common.ts";
import type { ServeApp, ServeAppParts, ServeContext } from "../serve-env.ts";

export const REQUESTS_PATH = "/access/v1/requests";
const TAGS = ["authzen"];

const requestIdHeader = z.object({
  "x-request-id": z
    .string()
    .optional()
    .openapi({ description: "the id of the call where the context has no `call_id`" }),
});

const evaluationRoute = createRoute({
  method: "post",
  path: "/access/v1/evaluation",
  operationId: "evaluate",
  middleware: requireRole("propose"),
  summary: "Ask whether a call may run, in the form of AuthZEN",
  tags: TAGS,
  request: { headers: requestIdHeader, body: jsonBody(evaluationSchema) },
  responses: { 200: jsonAnswer(authzenDecisionSchema, "the decision"), ...PROBLEMS },
});

const evaluationsRoute = createRoute({
  method: "post",
  path: "/access/v1/evaluations",
  operationId: "evaluateAll",
  middleware: requireRole("propose"),
  summary: "Ask about several calls, one after the other",
  tags: TAGS,
  request: { headers: requestIdHeader, body: jsonBody(evaluationsSchema) },
  responses: {
    200: jsonAnswer(authzenDecisionsSchema, "the decisions, in the order of the request"),
    ...PROBLEMS,
  },
});

const metadataRoute = createRoute({
  method: "get",
  path: "/.well-known/authzen-configuration",
  operationId: "getAuthzenMetadata",
  summary: "Describe the endpoints of AuthZEN",
  tags: TAGS,
  security: [],
  responses: { 200: jsonAnswer(metadataSchema, "the endpoints"), ...PROBLEMS },
});

/** Needs no credentials: it says nothing that a caller does not know. */
export function addAuthzenMetadata(app: ServeApp, parts: ServeAppParts): void {
  app.openapi(metadataRoute, (c) => {
    const base = readPublicUrl(c, urlParts(parts));
    return c.json(
      {
        policy_decision_point: base,
        access_evaluation_endpoint: `${base}/access/v1/evaluation`,
        access_evaluations_endpoint: `${base}/access/v1/evaluations`,
        access_request_endpoint: `${base}${REQUESTS_PATH}`,
        capabilities: ["urn:openid:authzen:capability:access-request"],
      },
      200,
    );
  });
}

export function addAuthzen(app: ServeApp, parts: ServeAppParts): void {
  const partsOf = (c: ServeContext) => ({
    served: parts.served,
    principal: c.get("principal"),
    requestId: c.get("requestId"),
    endpoint: requestsUrl(c, parts),
  });
  app.openapi(evaluationRoute, async (c) =>
    c.json(await evaluate(partsOf(c), c.req.valid("json")), 200),
  );
  app.openapi(evaluationsRoute, async (c) => {
    const request = c.req.valid("json");
    if ((request.evaluations ?? []).length > 0) {
      return c.json({ evaluations: [...(await evaluateAll(partsOf(c), request))] }, 200);
    }
    const single = evaluationSchema.safeParse(request);
    if (!single.success) throw invalidInput("json", single.error.issues);
    return c.json(await evaluate(partsOf(c), single.data), 200);
  });
}

function urlParts({ publicUrl, access }: ServeAppParts): PublicUrlParts {
  return { publicUrl, isOwnHost: access.isOwnHost };
}

/** URL of access requests. */
export function requestsUrl(c: ServeContext, parts: ServeAppParts): string {
  return `${readPublicUrl(c, urlParts(parts))}${REQUESTS_PATH}`;
}
