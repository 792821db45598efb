import { z } from "@hono/zod-openapi";
import { FAILURE_EFFECTS, RESULT_STATUSES } from "../../core/inputs.ts";
import { moneySchema } from "./proposal.ts";

/** How an allowed call ended: the library's `CallReport`. */
export const reportSchema = z
  .strictObject({
    status: z.enum(RESULT_STATUSES),
    effect: z
      .enum(FAILURE_EFFECTS)
      .optional()
      .openapi({ description: "of a failed call: `none` if it certainly took no effect" }),
    output: z.unknown().optional(),
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
    effect: z.enum(FAILURE_EFFECTS).nullable(),
    error: z
      .object({
        code: z.string().nullable(),
        message: z.string(),
        retryable: z.boolean().nullable(),
      })
      .nullable(),
    output: z.unknown().optional(),
    whole: z.boolean().openapi({ description: "false: only the beginning was stored" }),
    bytes: z.number(),
    digest: z.string().nullable(),
  })
  .openapi("StoredResult");
