import { z } from "@hono/zod-openapi";
import { FAILURE_EFFECTS, RESULT_STATUSES } from "../../core/inputs.ts";
import { orNull } from "./common.ts";
import { moneySchema } from "./proposal.ts";

export const callErrorSchema = z
  .object({
    code: z.string().nullable(),
    message: z.string(),
    retryable: z.boolean().nullable(),
  })
  .openapi("CallError");

/** How an allowed call ended: the library's `CallReport`. */
export const reportSchema = z
  .strictObject({
    status: z.enum(RESULT_STATUSES),
    effect: z
      .enum(FAILURE_EFFECTS)
      .optional()
      .openapi({ description: "of a failed call: `none` if it certainly took no effect" }),
    output: z.unknown().optional(),
    whole: z
      .boolean()
      .optional()
      .openapi({ description: "false: JSON cannot represent all of what was returned" }),
    basis: z.enum(["reported", "returned"]).optional().openapi({
      description: "`returned`: a handler returned it, so error patterns of the policy apply",
    }),
    by: z.string().min(1).max(128).optional().openapi({
      description:
        "of `started`: the one who claims the call. The same name again gets the same answer, another one `already_reported`",
    }),
    error: z
      .strictObject({
        message: z.string(),
        code: z.string().nullable().optional(),
        retryable: z.boolean().nullable().optional(),
      })
      .optional(),
    durationMs: z.number().min(0).optional(),
    cost: moneySchema.optional(),
  })
  .openapi("Report");

export const reportOutcomeSchema = z
  .union([
    z.object({ recorded: z.literal(true), status: z.enum(RESULT_STATUSES) }),
    z.object({
      recorded: z.literal(false),
      why: z.enum(["unknown_call", "already_reported", "wrong_call"]),
    }),
  ])
  .openapi("ReportOutcome");

export const storedResultSchema = z
  .object({
    decisionId: z.string(),
    status: z.enum(RESULT_STATUSES),
    effect: orNull(z.enum(FAILURE_EFFECTS)),
    error: orNull(callErrorSchema),
    output: z.unknown().optional(),
    whole: z.boolean().openapi({ description: "false: only the beginning was stored" }),
    bytes: z.number(),
    digest: z.string().nullable(),
  })
  .openapi("StoredResult");
