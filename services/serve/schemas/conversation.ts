import { z } from "@hono/zod-openapi";
import { idText, timeMs } from "./common.ts";
import {
  shownDecisionSchema,
  shownOrderSchema,
  shownReconciledSchema,
  shownResultSchema,
  shownVerdictSchema,
} from "./event.ts";

const PAGE_MAX = 500;
const PAGE = 50;
const CALLS_MAX = 1_000;
const CALLS = 200;

const count = () => z.int().min(0);
const inQuery = (name: string) => ({ param: { name, in: "query" as const } });

export const conversationParam = z.object({
  conversationId: z.string().openapi({ param: { name: "conversationId", in: "path" } }),
});

export const conversationsQuery = z.object({
  tenantId: idText().optional().openapi(inQuery("tenantId")),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE).openapi(inQuery("limit")),
  cursor: z
    .string()
    .max(4_096)
    .optional()
    .openapi({ ...inQuery("cursor"), description: "`nextCursor` of the page before" }),
});

export const timelineQuery = z.object({
  tenantId: idText().optional().openapi(inQuery("tenantId")),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(CALLS_MAX)
    .default(CALLS)
    .openapi({ ...inQuery("limit"), description: "the latest so many calls" }),
});

const summarySchema = z
  .object({
    tenantId: z.string(),
    conversationId: z.string(),
    startedAt: timeMs(),
    lastActivityAt: timeMs(),
    ended: z.boolean(),
    calls: z
      .object({ allowed: count(), refused: count(), held: count() })
      .openapi({ description: "calls by their latest decision: `held` waits now" }),
    results: z
      .object({ succeeded: count(), failed: count(), not_executed: count(), unknown: count() })
      .openapi({ description: "allowed calls by how they ended" }),
  })
  .openapi("ConversationSummary");

export const conversationPageSchema = z
  .object({
    conversations: z.array(summarySchema).readonly(),
    nextCursor: z.string().nullable(),
    since: timeMs()
      .nullable()
      .openapi({ description: "older activity is left out (Unix time in ms); null: none is" }),
  })
  .openapi("Conversations");

export const timelineSchema = z
  .object({
    tenantId: z.string(),
    conversationId: z.string(),
    ended: z.boolean(),
    complete: z
      .boolean()
      .openapi({ description: "whether the beginning of the conversation is included" }),
    calls: z
      .array(
        z.object({
          decisionId: z.string(),
          callId: z.string(),
          tool: z.string(),
          outcome: z.enum(["allowed", "refused", "held"]),
          decisions: z.array(shownDecisionSchema).readonly(),
          result: z.union([shownResultSchema, shownReconciledSchema, z.null()]),
        }),
      )
      .readonly(),
    orders: z.array(z.union([shownOrderSchema, shownVerdictSchema])).readonly(),
  })
  .openapi("Timeline");
