import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../core/canonical/json-value.ts";

export const problemSchema = z
  .object({
    type: z.string().openapi({ example: "urn:callgate:problem:invalid_input" }),
    title: z.string(),
    status: z.int(),
    code: z.string().openapi({ example: "invalid_input" }),
    detail: z.string().openapi({ description: "what is wrong" }),
    at: z.string().optional().openapi({ description: "where: a member, a parameter or a header" }),
    remedy: z.string().openapi({ description: "what to do" }),
    requestId: z.string(),
  })
  .openapi("Problem");

const ID_CHARACTERS_MAX = 256;
export const WAIT_SECONDS_MAX = 300;

export const idText = () => z.string().min(1).max(ID_CHARACTERS_MAX);
/** Unix time in ms. */
export const timeMs = () => z.number().openapi({ description: "Unix time in ms" });

export const decisionIdParam = z.object({
  decisionId: z.string().openapi({ param: { name: "decisionId", in: "path" } }),
});
export const approvalIdParam = z.object({
  approvalId: z.string().openapi({ param: { name: "approvalId", in: "path" } }),
});
export const waitQuery = z.object({
  wait: z.coerce
    .number()
    .min(0)
    .max(WAIT_SECONDS_MAX)
    .optional()
    .openapi({ param: { name: "wait", in: "query" }, description: "longest wait, in seconds" }),
});

export const jsonBody = <T extends z.ZodType>(schema: T) => ({
  content: { "application/json": { schema } },
  required: true,
});
/** A request without a body is the same as one with an empty object. */
export const optionalBody = <T extends z.ZodType>(schema: T) => ({
  content: { "application/json": { schema } },
  required: false,
});
export const jsonAnswer = <T extends z.ZodType>(schema: T, description: string) => ({
  content: { "application/json": { schema } },
  description,
});

const problemAnswer = (description: string) => ({
  content: { "application/problem+json": { schema: problemSchema } },
  description,
});

/** The problems that any request may be answered with. */
export const PROBLEMS = {
  400: problemAnswer("the request is not valid"),
  401: problemAnswer("a token is needed, or the token is not valid"),
  403: problemAnswer("the token does not allow this"),
  413: problemAnswer("the body is too large"),
  415: problemAnswer("the body is not JSON"),
  422: problemAnswer("the gate cannot process the request"),
  429: problemAnswer("too many requests with this token"),
  500: problemAnswer("the server has an error"),
  503: problemAnswer("the gate is not available: try again, with the same call id"),
} as const;
export const MISSING = { 404: problemAnswer("there is no such thing") } as const;
export const OVER = { 410: problemAnswer("its time is over") } as const;
export const DECIDED = { 409: problemAnswer("the held call has been decided already") } as const;

export const TOO_LATE = {
  409: problemAnswer("the call is somebody else's by now, or over"),
} as const;
/** `nullable` is lost in the document where a schema has a name or a type of its own. */
export const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

/** Arguments in an answer. */
export const argumentsAnswer = () =>
  z
    .custom<JsonObject>((value) => typeof value === "object" && value !== null)
    .openapi({ type: "object", additionalProperties: true });
