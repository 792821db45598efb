import { HTTPException } from "hono/http-exception";
import type { Logger } from "../../runtime/ports.ts";
import type { ServeContext } from "../serve-env.ts";
import { INTERNAL, Problem, type ProblemParts, problemBody, problemOf } from "./problem.ts";

/** Answers with a problem. */
export function answerProblem(c: ServeContext, parts: ProblemParts): Response {
  if (parts.retryAfter !== undefined) c.header("Retry-After", String(parts.retryAfter));
  if (parts.status === 401) c.header("WWW-Authenticate", "Bearer");
  const body = JSON.stringify(problemBody(parts, c.get("requestId") ?? ""));
  return c.body(body, parts.status, { "Content-Type": "application/problem+json" });
}

/** Answers with the problem of what a route threw. A defect of the server goes to the log. */
export function answerError(c: ServeContext, error: unknown, logger: Logger): Response {
  const parts = problemOf(error) ?? httpProblem(error);
  if (parts !== null) return answerProblem(c, parts);
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  logger.error("a request could not be answered", {
    ...{ message, method: c.req.method, path: c.req.path, requestId: c.get("requestId") },
  });
  return answerProblem(c, INTERNAL);
}

/** Hono's own errors: a body that is no JSON, for example. */
function httpProblem(error: unknown): ProblemParts | null {
  if (!(error instanceof HTTPException) || error.status >= 500) return null;
  return {
    status: 400,
    code: "invalid_input",
    detail: error.message,
    remedy: "Correct the request; /openapi.json describes it",
  };
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/** The problem of a body, parameter or header that its schema refuses. */
export function invalidInput(target: string, issues: readonly Issue[]): Problem {
  const [first] = issues;
  const path = (first?.path ?? []).map(String).join(".");
  const where = target === "json" ? "body" : target;
  const others = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return new Problem({
    status: 400,
    code: "invalid_input",
    detail: `${path === "" ? where : `\`${path}\``}: ${first?.message ?? "is not valid"}${others}`,
    at: path === "" ? where : `${where}.${path}`,
    remedy: "Correct the request; /openapi.json describes it",
  });
}
