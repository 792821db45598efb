import { z } from "@hono/zod-openapi";
import { idText } from "./common.ts";

export const moneySchema = z
  .strictObject({
    microUnits: z.int().openapi({ description: "millionths of the currency's unit" }),
    currency: z.string().openapi({ example: "USD" }),
  })
  .openapi("Money");

const PLATFORM = "only with a token of a platform; otherwise it comes from the token";
const countText = () => z.union([z.string().max(256), z.int()]);

/** A call that an agent wants to make: the library's `ProposedCall`. */
export const proposalSchema = z
  .strictObject({
    conversationId: idText().openapi({ example: "c-1" }),
    callId: idText()
      .optional()
      .openapi({ description: "the model's id of the call; the same id gets the same decision" }),
    tool: z.string().openapi({ example: "send_email" }),
    arguments: z
      .union([z.record(z.string(), z.unknown()), z.string()])
      .openapi({ description: "an object, or the JSON text that the model wrote" }),
    step: countText().optional().openapi({ description: "one message of the model" }),
    turn: countText()
      .optional()
      .openapi({ description: `one message of the user; ${PLATFORM}` }),
    tenantId: idText().optional().openapi({ description: PLATFORM }),
    agentId: idText().optional().openapi({ description: PLATFORM }),
    confirmation: idText()
      .optional()
      .openapi({ description: `id of a user's confirmation; ${PLATFORM}` }),
    estimatedCost: moneySchema.optional().openapi({ description: PLATFORM }),
    assistantText: z.string().optional().openapi({ description: "what the model said" }),
    approvalId: idText()
      .optional()
      .openapi({ description: "the approval of a held call that is proposed again" }),
  })
  .openapi("Proposal");

export type ProposalBody = z.output<typeof proposalSchema>;
