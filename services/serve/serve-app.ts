/** The HTTP application: what every request passes, then the routes. */
import { randomUUID } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { type AuthenticatorParts, authenticate } from "./access/authenticate.ts";
import { limitRate } from "./access/limit-rate.ts";
import { answerError, invalidInput } from "./http/answer-problem.ts";
import { Problem } from "./http/problem.ts";
import { readBody } from "./http/read-body.ts";
import { JournalTail } from "./journal/journal-tail.ts";
import { addAccessRequests } from "./routes/access-requests.ts";
import { addApprovals } from "./routes/approvals.ts";
import { addAuthzen, addAuthzenMetadata } from "./routes/authzen.ts";
import { addConversations } from "./routes/conversations.ts";
import { addDecisions } from "./routes/decisions.ts";
import { addDocuments } from "./routes/documents.ts";
import { addEvents } from "./routes/events.ts";
import { addExecutions } from "./routes/executions.ts";
import { addExplain } from "./routes/explain.ts";
import { addHealth } from "./routes/health.ts";
import { addProposals } from "./routes/proposals.ts";
import type { ServeApp, ServeAppParts, ServeEnv } from "./serve-env.ts";

export function createServeApp(parts: ServeAppParts): ServeApp {
  const { served, access } = parts;
  const tail = new JournalTail(served.link);
  const app: ServeApp = new OpenAPIHono<ServeEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.target, result.error.issues);
    },
  });
  app.onError((error, c) => answerError(c, error, served.logger));
  app.notFound((c) => answerError(c, noSuchPath(c.req.method, c.req.path), served.logger));
  app.use(identifyRequest);
  if (parts.corsOrigins.length > 0) app.use(allowPages(parts.corsOrigins));
  addHealth(app, parts);
  addDocuments(app);
  addAuthzenMetadata(app, parts);
  app.use(authenticateRequest(access));
  app.use(limitRate(parts.rateLimit));
  app.use(readBody);
  addProposals(app, parts);
  addDecisions(app, parts);
  addApprovals(app, parts);
  addAuthzen(app, parts);
  addAccessRequests(app, parts);
  addConversations(app, parts, tail);
  addExecutions(app, parts, tail);
  addEvents(app, parts, tail);
  addExplain(app, parts);
  return app;
}

function allowPages(origins: readonly string[]) {
  return cors({
    origin: [...origins],
    allowMethods: ["GET", "POST"],
    allowHeaders: [
      ...["Authorization", "Content-Type", "Idempotency-Key", "Prefer", "X-Request-ID"],
      ...["Last-Event-ID", "traceparent", "tracestate"],
    ],
    exposeHeaders: ["X-Request-ID", "Retry-After"],
    maxAge: 600,
  });
}

const REQUEST_ID = /^[!-~]{1,128}$/;

/** The client's id of the request, or a new one; the answer carries it. */
const identifyRequest = createMiddleware<ServeEnv>(async (c, next) => {
  const sent = c.req.header("x-request-id");
  const requestId = sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
  c.set("requestId", requestId);
  c.header("X-Request-ID", requestId);
  await next();
});

function authenticateRequest(access: AuthenticatorParts) {
  return createMiddleware<ServeEnv>(async (c, next) => {
    const [authorization, origin, host] = ["authorization", "origin", "host"].map((name) =>
      c.req.header(name),
    );
    c.set("principal", await authenticate(access, { authorization, origin, host }));
    await next();
  });
}

function noSuchPath(method: string, path: string): Problem {
  return new Problem({
    status: 404,
    code: "unknown_path",
    detail: `there is no ${method} ${path}`,
    at: "path",
    remedy: "/openapi.json lists the paths",
  });
}
