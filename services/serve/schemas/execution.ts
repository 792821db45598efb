import { z } from "@hono/zod-openapi";
import { RESULT_STATUSES } from "../../core/inputs.ts";
import { argumentsAnswer, idText, timeMs, WAIT_SECONDS_MAX } from "./common.ts";
import { reportSchema } from "./result.ts";

const WORKER_CHARACTERS_MAX = 64;
const TOOLS_MAX = 100;
const EXECUTIONS_MAX = 100;
const LEASE_SECONDS_MAX = 3_600;
const LEASE_SECONDS = 60;
const END_STATUSES = RESULT_STATUSES.filter((status) => status !== "started");

const leaseSeconds = () =>
  z
    .number()
    .min(1)
    .max(LEASE_SECONDS_MAX)
    .openapi({ description: "without a renewal within this time, the call becomes `unknown`" });

export const claimSchema = z
  .strictObject({
    worker: z
      .string()
      .min(1)
      .max(WORKER_CHARACTERS_MAX)
      .refine((name) => !/\p{C}/u.test(name), "must have no control character")
      .openapi({ description: "the worker's name for itself", example: "mailer-1" }),
    tools: z
      .array(idText())
      .min(1)
      .max(TOOLS_MAX)
      .openapi({
        description: "the worker gets calls of these tools alone",
        example: ["send_email"],
      }),
    max: z.int().min(1).max(EXECUTIONS_MAX).default(1),
    wait: z
      .number()
      .min(0)
      .max(WAIT_SECONDS_MAX)
      .default(0)
      .openapi({ description: "how many seconds to wait for the first call" }),
    leaseSeconds: leaseSeconds().default(LEASE_SECONDS),
  })
  .openapi("ClaimRequest");

const executionSchema = z
  .object({
    executionId: z.string(),
    decisionId: z.string(),
    callId: z.string(),
    conversationId: z.string(),
    tenantId: z.string(),
    tool: z.string(),
    isRead: z.boolean(),
    arguments: argumentsAnswer(),
    idempotencyKey: z
      .string()
      .openapi({ description: "send it to what the tool calls: retries have the same one" }),
    notAfter: timeMs().openapi({ description: "do not begin the call later (Unix time in ms)" }),
    timeLimitMs: z.number().openapi({ description: "stop waiting for the tool after this time" }),
    leaseExpiresAt: timeMs(),
  })
  .openapi("Execution");

export const executionsSchema = z
  .object({ executions: z.array(executionSchema).readonly() })
  .openapi("Executions");

export const renewSchema = z
  .strictObject({ leaseSeconds: leaseSeconds().optional() })
  .openapi("LeaseRenewal");
export const leaseSchema = z
  .object({ executionId: z.string(), leaseExpiresAt: timeMs() })
  .openapi("Lease");

export const releaseSchema = z.strictObject({}).openapi("Release");
export const releasedSchema = z
  .object({ executionId: z.string(), released: z.literal(true) })
  .openapi("ReleasedExecution");

export const executionReportSchema = reportSchema
  .omit({ by: true })
  .extend({ status: z.enum(END_STATUSES) })
  .openapi("ExecutionReport");

export const executionIdParam = z.object({
  executionId: z.string().openapi({ param: { name: "executionId", in: "path" } }),
});
