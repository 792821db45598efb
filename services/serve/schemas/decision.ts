import { z } from "@hono/zod-openapi";
import { REASON_CODES } from "../../core/reasons/reasons.ts";
import { argumentsAnswer, orNull, timeMs } from "./common.ts";

const reason = () => z.enum(REASON_CODES);

export const warningSchema = z.object({ reason: reason(), message: z.string() }).openapi("Warning");

const previousCallSchema = z
  .object({
    callId: z.string(),
    decisionId: z.string(),
    tool: z.string(),
    atMs: timeMs(),
    status: z.enum(["in_flight", "held", "succeeded", "failed", "not_executed", "unknown"]),
  })
  .openapi("PreviousCall");

const previousResultSchema = z
  .object({
    inline: z.string().nullable().openapi({ description: "the output, where all of it is stored" }),
    ref: z.string().openapi({ description: "GET /v1/results/{ref} has the result" }),
    digest: z.string().nullable(),
    bytes: z.number(),
  })
  .openapi("PreviousResult");

const resolutionSchema = z
  .object({
    type: z.enum(["retry_after", "approval", "confirmation", "new_turn", "none"]),
    retryAfterMs: z.number().nullable(),
    approvalId: z.string().nullable(),
  })
  .openapi("Resolution");

const earlierResultSchema = z
  .object({
    ref: z.string(),
    tool: z.string(),
    atMs: timeMs(),
    digest: z.string().nullable(),
  })
  .openapi("EarlierResult");

const argumentProblemSchema = z
  .object({ path: z.string(), message: z.string() })
  .openapi("ArgumentProblem");

const conflictSchema = z
  .object({ resource: z.string(), path: z.array(z.string()).readonly() })
  .openapi("Conflict");

/** What to tell the model about a call that does not run (yet): the library's `CallRefusal`. */
export const refusalSchema = z
  .object({
    schemaVersion: z.literal(1),
    callId: z.string(),
    tool: z.string(),
    arguments: z.string().openapi({ description: "the beginning of the arguments" }),
    decisionId: z.string().optional(),
    policy: z.string().openapi({ description: "revision of the policy that decided" }),
    reason: reason(),
    message: z.string().openapi({ description: "what to tell the model" }),
    userMessage: z.string().nullable().openapi({ description: "what to tell the user" }),
    rule: z.string().openapi({ description: "the rule of the policy that decided" }),
    duplicate: z.boolean(),
    note: z.string().nullable(),
    level: z.number(),
    count: z.number(),
    retryable: z.boolean(),
    disposition: z.enum(["use_previous_result", "change_approach", "wait", "ask_user", "stop"]),
    previousCall: orNull(previousCallSchema),
    previousResult: orNull(previousResultSchema),
    conflict: orNull(conflictSchema),
    resolution: resolutionSchema,
    suggestedNext: z.array(z.string()).readonly(),
    problems: z.array(argumentProblemSchema).readonly(),
    earlierResults: orNull(z.array(earlierResultSchema).readonly()),
    detail: z.enum(["restoring", "not_owner", "no_policy", "timeout", "closed"]).optional(),
    problem: z.string().optional(),
  })
  .openapi("Refusal");

const common = {
  callId: z.string(),
  tool: z.string(),
  isRead: z.boolean(),
  repeated: z
    .boolean()
    .openapi({ description: "the same proposal was decided before: this is that decision" }),
  warnings: z.array(warningSchema).readonly(),
};

export const allowedSchema = z
  .object({
    outcome: z.literal("allowed"),
    decisionId: z.string(),
    policyRevision: z.string(),
    ...common,
    arguments: argumentsAnswer(),
    idempotencyKey: z.string().optional().openapi({
      description: "send it to what the tool calls; absent where the token may not run calls",
    }),
    notAfter: timeMs(),
    timeLimitMs: z.number(),
  })
  .openapi("AllowedDecision");

export const refusedSchema = z
  .object({
    outcome: z.literal("refused"),
    decisionId: z.string().optional(),
    policyRevision: z.string().optional(),
    ...common,
    arguments: orNull(argumentsAnswer()),
    answered: z
      .boolean()
      .openapi({ description: "`refusal.previousResult` is the answer to a repeated read" }),
    refusal: refusalSchema,
  })
  .openapi("RefusedDecision");

export const heldSchema = z
  .object({
    outcome: z.literal("held"),
    decisionId: z.string(),
    policyRevision: z.string(),
    ...common,
    arguments: orNull(argumentsAnswer()),
    refusal: refusalSchema,
    approvalId: z.string(),
    expiresAt: timeMs(),
  })
  .openapi("HeldDecision");

export const decisionSchema = z
  .discriminatedUnion("outcome", [allowedSchema, refusedSchema, heldSchema])
  .openapi("Decision");
