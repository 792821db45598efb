import { z } from "@hono/zod-openapi";
import { REASON_CODES } from "../../core/reasons/reasons.ts";
import { idText, orNull, timeMs } from "./common.ts";
import { decisionSchema, refusalSchema } from "./decision.ts";
import { shownDecisionSchema } from "./event.ts";
import { proposalSchema } from "./proposal.ts";

export const explainSchema = z.strictObject({ decisionId: idText() }).openapi("ExplainRequest");

const noticeSchema = z
  .object({ reason: z.enum(REASON_CODES), message: z.string(), rule: z.string() })
  .openapi("Notice");

const explainedRefusalSchema = refusalSchema
  .pick({
    previousCall: true,
    conflict: true,
    problems: true,
    resolution: true,
    disposition: true,
    level: true,
    count: true,
  })
  .extend({
    cause: z.string().openapi({ description: "why calls are refused for this reason" }),
    remedy: z.string(),
  })
  .openapi("ExplainedRefusal");

const locationText = () =>
  z.string().nullable().openapi({
    description: "`file:line:column`, `preset`, or `always`: no policy can change it",
  });

const explainedDecisionSchema = z
  .object({
    decision: shownDecisionSchema,
    position: z.object({ partition: z.int(), offset: z.int(), seq: z.int() }),
    verdicts: z
      .array(
        z.object({
          kind: z.string(),
          by: z.string(),
          reason: z.string().nullable(),
          at: timeMs(),
        }),
      )
      .readonly(),
    tier: z.string().nullable(),
    tierRule: z.string().nullable(),
    shadow: z.array(noticeSchema).readonly(),
    rule: z.string().nullable(),
    location: locationText(),
    isPolicyOfDecision: z
      .boolean()
      .openapi({ description: "whether the policy of `location` is the one that decided" }),
    refusal: orNull(explainedRefusalSchema),
    attempt: z.int().nullable(),
  })
  .openapi("ExplainedDecision");

export const explanationSchema = z
  .object({
    decisionId: z.string(),
    decisions: z.array(explainedDecisionSchema).readonly(),
    grantedBy: orNull(
      z.object({
        by: z.string().nullable().openapi({ description: "null: the policy" }),
        tier: z.string().nullable(),
        tool: z.string().nullable(),
        reason: z.string().nullable(),
        at: timeMs().nullable(),
        until: timeMs().nullable(),
      }),
    ),
    result: orNull(
      z.object({
        type: z.enum(["result_recorded", "outcome_unknown", "reconciled"]),
        status: z.string(),
        at: timeMs(),
        effect: z.string().nullable(),
        error: orNull(z.object({ code: z.string().nullable(), message: z.string() })),
        durationMs: z.number().nullable(),
        by: z.string().nullable(),
        reason: z.string().nullable(),
      }),
    ),
  })
  .openapi("Explanation");

// Not an extension: a document would join two objects, neither of which allows the other's members.
export const simulateSchema = z
  .strictObject({
    ...proposalSchema.shape,
    state: z
      .enum(["present", "empty"])
      .default("present")
      .openapi({ description: "`empty`: as the first call of a new conversation" }),
  })
  .openapi("SimulateRequest");

export const simulationSchema = z
  .object({
    decision: decisionSchema,
    hasState: z.boolean().openapi({ description: "whether the conversation had a state" }),
    tier: z.string().nullable(),
    tierRule: z.string().nullable(),
    shadow: z.array(noticeSchema).readonly(),
    rule: z.string().nullable(),
    location: locationText(),
  })
  .openapi("Simulation");
