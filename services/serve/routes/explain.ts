import { createRoute } from "@hono/zod-openapi";
import { requireRole } from "../access/require-role.ts";
import { explainDecision } from "../explain/explain-decision.ts";
import { simulateCall } from "../explain/simulate-call.ts";
import { Problem } from "../http/problem.ts";
import { jsonAnswer, jsonBody, MISSING, PROBLEMS } from "../schemas/common.ts";
import {
  explainSchema,
  explanationSchema,
  simulateSchema,
  simulationSchema,
} from "../schemas/explain.ts";
import type { ServeApp, ServeAppParts } from "../serve-env.ts";
import { findCall } from "../served-gate.ts";
import { seenConversation } from "./conversations.ts";

const explainRoute = createRoute({
  method: "post",
  path: "/v1/explain",
  operationId: "explain",
  middleware: requireRole("read", "approve"),
  summary: "Explain a decision: the rule and its line, verdicts, grants and the result",
  tags: ["policy"],
  request: { body: jsonBody(explainSchema) },
  responses: {
    200: jsonAnswer(explanationSchema, "the facts behind the decision"),
    ...MISSING,
    ...PROBLEMS,
  },
});

const simulateRoute = createRoute({
  method: "post",
  path: "/v1/simulate",
  operationId: "simulate",
  // An agent that may only propose must not look for a way around the policy unseen.
  middleware: requireRole("read"),
  summary: "Decide a call without recording anything",
  tags: ["policy"],
  request: { body: jsonBody(simulateSchema) },
  responses: {
    200: jsonAnswer(simulationSchema, "how the call would be decided now"),
    ...MISSING,
    ...PROBLEMS,
  },
});

export function addExplain(app: ServeApp, { served }: ServeAppParts): void {
  app.openapi(explainRoute, async (c) => {
    const { decisionId } = c.req.valid("json");
    const call = await findCall(served, decisionId, c.get("principal"));
    const explanation = await explainDecision(served, call);
    if (explanation === null) throw goneDecision(decisionId);
    return c.json(explanation, 200);
  });
  app.openapi(simulateRoute, async (c) => {
    const { state, ...call } = c.req.valid("json");
    const name = seenConversation(c.get("principal"), call.conversationId, call.tenantId);
    return c.json(await simulateCall(served, { ...call, ...name }, state), 200);
  });
}

function goneDecision(decisionId: string): Problem {
  return new Problem({
    status: 404,
    code: "unknown_decision",
    detail: `the journal no longer has the decision \`${decisionId}\``,
    remedy: "Keep what you still need, or raise how long the journal is kept",
  });
}
