import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Principal } from "./access/principal.ts";

/** What middleware finds out about a request. */
export type ServeEnv = {
  Variables: {
    readonly requestId: string;
    readonly principal: Principal;
  };
};

export type ServeApp = OpenAPIHono<ServeEnv>;
export type ServeContext = Context<ServeEnv>;
