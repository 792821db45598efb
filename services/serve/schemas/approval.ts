import { z } from "@hono/zod-openapi";
import { argumentsAnswer, orNull, timeMs } from "./common.ts";
import { decisionSchema } from "./decision.ts";

/** A call that waits for a person: the library's `PendingCall`. */
export const pendingSchema = z
  .object({
    approvalId: z.string(),
    decisionId: z.string(),
    tenantId: z.string(),
    conversationId: z.string(),
    agentId: z.string().nullable(),
    callId: z.string(),
    tool: z.string(),
    arguments: argumentsAnswer(),
    heldAt: timeMs(),
    expiresAt: timeMs(),
    message: z.string(),
    rule: z.string(),
    requireReason: z.boolean(),
    approvals: z.number().openapi({ description: "how many people must approve" }),
    approvedBy: z.array(z.string()).readonly(),
    further: z
      .object({ of: z.string(), notOf: z.array(z.string()).readonly() })
      .openapi("FurtherCalls"),
  })
  .openapi("PendingCall");

export const pendingListSchema = z
  .object({ approvals: z.array(pendingSchema).readonly() })
  .openapi("PendingCalls");

export const verdictSchema = z.strictObject({ reason: z.string().optional() }).openapi("Verdict");

export const approvalSchema = z
  .strictObject({
    reason: z.string().optional(),
    further: z
      .strictObject({
        calls: z.union([z.int().min(1), z.literal("any")]).optional(),
        untilMs: z.int().optional(),
      })
      .optional()
      .openapi({ description: "also allows further calls of the tool under the same rule" }),
  })
  .openapi("Approval");

export const earlierCallSchema = z
  .object({
    decisionId: z.string(),
    callId: z.string(),
    tool: z.string(),
    outcome: z.enum(["allowed", "refused", "held"]),
    reason: z.string().nullable(),
    arguments: orNull(argumentsAnswer()),
    at: timeMs(),
  })
  .openapi("EarlierCall");

/** Everything that a person needs to decide on a held call, and what became of it. */
export const shownApprovalSchema = pendingSchema
  .extend({
    state: z.enum(["waiting", "allowed", "refused", "held_anew"]),
    decision: orNull(decisionSchema).openapi({ description: "the decision that ended the hold" }),
    conversation: z
      .array(earlierCallSchema)
      .readonly()
      .openapi({ description: "the latest calls of the conversation before it, the oldest first" }),
  })
  .openapi("ShownApproval");
