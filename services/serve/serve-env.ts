import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import type { AuthenticatorParts } from "./access/authenticate.ts";
import type { Principal } from "./access/principal.ts";
import type { RateLimit } from "./access/rate-limit.ts";
import type { ServedGate } from "./served-gate.ts";

/** What middleware finds out about a request. */
export type ServeEnv = {
  Variables: {
    readonly requestId: string;
    readonly principal: Principal;
  };
};

export type ServeApp = OpenAPIHono<ServeEnv>;
export type ServeContext = Context<ServeEnv>;

export type ServeAppParts = {
  readonly served: ServedGate;
  readonly access: AuthenticatorParts;
  readonly rateLimit: RateLimit;
  /** Origins of web pages that may use the server with a token. */
  readonly corsOrigins: readonly string[];
  readonly metrics: ProcessMetrics;
  /** URL under which clients reach the server; null: as each request names it. */
  readonly publicUrl: string | null;
  /** Aborts when the server ends: waits end, and answers in progress are sent. */
  readonly ending: AbortSignal;
};
