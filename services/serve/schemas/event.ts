import { z } from "@hono/zod-openapi";
import { FAILURE_EFFECTS, RESULT_STATUSES } from "../../core/inputs.ts";
import { REASON_CODES } from "../../core/reasons/reasons.ts";
import { EVENT_TYPES } from "../events/shown-event.ts";
import { argumentsAnswer, idText, orNull, timeMs } from "./common.ts";
import { warningSchema } from "./decision.ts";
import { callErrorSchema } from "./result.ts";

const query = (name: string, description: string) => ({
  param: { name, in: "query" as const },
  description,
});

export const eventsQuery = z.object({
  type: z
    .string()
    .optional()
    .openapi({
      ...query("type", `only these types, separated by commas: ${EVENT_TYPES.join(", ")}`),
      example: "held,refused",
    }),
  tenantId: idText().optional().openapi(query("tenantId", "only events of this tenant")),
  conversationId: idText()
    .optional()
    .openapi(query("conversationId", "only events of this conversation")),
  tool: idText().optional().openapi(query("tool", "only calls of this tool")),
  from: z
    .enum(["start", "now"])
    .default("now")
    .openapi(query("from", "`start`: everything that the journal still has")),
});

export const eventsHeaders = z.object({
  "last-event-id": z
    .string()
    .optional()
    .openapi({ description: "resumes after this `id`; it comes before `from`" }),
});

const common = {
  at: timeMs(),
  tenantId: z.string(),
  conversationId: z.string(),
};
const call = { decisionId: z.string(), callId: z.string(), tool: z.string() };
const reason = () => z.enum(REASON_CODES);

export const shownDecisionSchema = z
  .object({
    type: z.enum(["allowed", "refused", "held"]),
    ...common,
    ...call,
    agentId: z.string().nullable(),
    turn: z.string().nullable(),
    step: z.string().nullable(),
    isRead: z.boolean(),
    arguments: orNull(argumentsAnswer()),
    policyRevision: z.string(),
    warnings: z.array(warningSchema).readonly(),
    endedApprovalId: z
      .string()
      .nullable()
      .openapi({ description: "the approval that this decision ended" }),
    approvedBy: z.array(z.string()).readonly(),
    reason: reason().optional(),
    message: z.string().optional(),
    rule: z.string().optional(),
    duplicate: z.boolean().optional(),
    approvalId: z.string().optional(),
    expiresAt: timeMs().optional(),
    approvals: z.number().optional(),
    notAfter: timeMs().optional(),
    timeLimitMs: z.number().optional(),
  })
  .openapi("DecisionEvent");

export const shownResultSchema = z
  .object({
    type: z.literal("result"),
    ...common,
    ...call,
    status: z.enum(RESULT_STATUSES),
    effect: orNull(z.enum(FAILURE_EFFECTS)),
    error: orNull(callErrorSchema),
    durationMs: z.number().nullable(),
    outputBytes: z.number(),
    outputDigest: z.string().nullable(),
    worker: z.string().nullable(),
  })
  .openapi("ResultEvent");

export const shownReconciledSchema = z
  .object({
    type: z.literal("reconciled"),
    ...common,
    ...call,
    status: z.enum(["succeeded", "failed", "not_executed"]),
    by: z.string(),
    reason: z.string().nullable(),
  })
  .openapi("ReconciledEvent");

export const shownVerdictSchema = z
  .object({
    type: z.literal("verdict"),
    ...common,
    kind: z.enum(["approve", "grant", "revoke"]),
    by: z.string(),
    reason: z.string().nullable(),
    approvalId: z.string().nullable(),
    decisionId: z.string().nullable(),
    tool: z.string().nullable(),
    tier: z.string().nullable(),
  })
  .openapi("VerdictEvent");

export const shownOrderSchema = z
  .object({
    type: z.enum(["conversation_ended", "conversation_resumed"]),
    ...common,
    by: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .openapi("ConversationEvent");

export const shownEventSchema = z
  .union([
    shownDecisionSchema,
    shownResultSchema,
    shownReconciledSchema,
    shownVerdictSchema,
    shownOrderSchema,
  ])
  .openapi("GateEvent");
