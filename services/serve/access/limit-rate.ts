import { createMiddleware } from "hono/factory";
import { Problem } from "../http/problem.ts";
import type { ServeEnv } from "../serve-env.ts";
import type { RateLimit } from "./rate-limit.ts";

/** Refuses a request whose token has used up its requests, with the time to try again. */
export function limitRate(limit: RateLimit) {
  return createMiddleware<ServeEnv>(async (c, next) => {
    const { tokenId } = c.get("principal");
    const retryAfter = limit.take(tokenId ?? "");
    if (retryAfter > 0) throw tooMany(retryAfter);
    await next();
  });
}

function tooMany(retryAfter: number): Problem {
  return new Problem({
    status: 429,
    code: "too_many_requests",
    detail: "the token has used up its requests; nothing was decided",
    remedy: `Try again after ${retryAfter} s, with the same \`callId\`; the operator can raise serve.requestsPerSecond`,
    retryAfter,
  });
}
