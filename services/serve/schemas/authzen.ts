/**
 * Requests and answers of the Authorization API 1.0 (AuthZEN), and of its Access Request and Approval
 * Profile (ARAP). Members that are not listed are ignored, as both documents demand.
 */
import { z } from "@hono/zod-openapi";
import { MEMBER_CHARACTERS_MAX } from "../authzen/limits.ts";
import { argumentsAnswer } from "./common.ts";

const text = () => z.string().min(1).max(MEMBER_CHARACTERS_MAX);
const properties = () =>
  z
    .record(z.string(), z.unknown())
    .optional()
    .openapi({ description: "part of the call's arguments" });

const subject = z.object({ type: text(), id: text(), properties: properties() });
const action = z.object({ name: text(), properties: properties() });
const resource = z.object({ type: text(), id: text(), properties: properties() });

export const contextSchema = z
  .looseObject({
    arguments: z
      .union([z.record(z.string(), z.unknown()), z.string()])
      .optional()
      .openapi({ description: "of the call: an object, or the JSON text that the model wrote" }),
    conversation_id: text()
      .optional()
      .openapi({ description: "without it, the request is a conversation of its own" }),
    call_id: text()
      .optional()
      .openapi({ description: "the same id gets the same decision; default: the `X-Request-ID`" }),
    step: text().optional().openapi({ description: "one message of the model" }),
    turn: text().optional().openapi({ description: "one message of the user; platforms only" }),
    tenant_id: text().optional().openapi({ description: "platforms only" }),
    approval: z
      .looseObject({ id: text() })
      .optional()
      .openapi({ description: "`result.approval` of an approved access request, unchanged" }),
  })
  .openapi("AuthzenContext");

export const evaluationSchema = z
  .object({ subject, action, resource, context: contextSchema.optional() })
  .openapi("AuthzenEvaluation");

export type Evaluation = z.output<typeof evaluationSchema>;

/** Members of the request are defaults of its evaluations; each is checked by itself. */
export const evaluationsSchema = z
  .object({
    subject: subject.optional(),
    action: action.optional(),
    resource: resource.optional(),
    context: contextSchema.optional(),
    evaluations: z.array(z.record(z.string(), z.unknown())).optional(),
    options: z
      .object({
        evaluations_semantic: z
          .enum(["execute_all", "deny_on_first_deny", "permit_on_first_permit"])
          .optional(),
      })
      .optional(),
  })
  .openapi("AuthzenEvaluations");

export type Evaluations = z.output<typeof evaluationsSchema>;

const timestamp = () => z.string().openapi({ format: "date-time" });

export const decisionContextSchema = z
  .object({
    evaluation_id: z.string().optional().openapi({ description: "the `decisionId`" }),
    conversation_id: z.string().optional(),
    call_id: z.string().optional(),
    repeated: z.boolean().optional().openapi({ description: "it was decided before" }),
    idempotency_key: z
      .string()
      .optional()
      .openapi({ description: "send it to what the tool calls" }),
    not_after: timestamp().optional().openapi({ description: "the call must not start later" }),
    time_limit_ms: z.number().optional(),
    reason: z.string().optional().openapi({ description: "why the decision is `false`" }),
    message: z.string().optional().openapi({ description: "what to tell the model" }),
    user_message: z.string().optional().openapi({ description: "what to tell the user" }),
    rule: z.string().optional(),
    previous_decision_id: z.string().optional(),
    access_request: z
      .object({ endpoint: z.string(), template: z.string(), expires_at: timestamp() })
      .optional()
      .openapi({ description: "a person can approve the call: the denial is requestable" }),
    approval: z.object({ id: z.string(), approved_until: timestamp() }).optional(),
    next_action: z.enum(["request", "retry", "none"]).optional(),
    retry_after: z.int().optional().openapi({ description: "seconds" }),
    error: z
      .object({ status: z.int(), code: z.string(), message: z.string() })
      .optional()
      .openapi({ description: "of an evaluation that could not be processed" }),
  })
  .openapi("AuthzenDecisionContext");

export type DecisionContext = z.output<typeof decisionContextSchema>;

export const authzenDecisionSchema = z
  .object({ decision: z.boolean(), context: decisionContextSchema.optional() })
  .openapi("AuthzenDecision");

export type AuthzenDecision = z.output<typeof authzenDecisionSchema>;

export const authzenDecisionsSchema = z
  .union([z.object({ evaluations: z.array(authzenDecisionSchema) }), authzenDecisionSchema])
  .openapi("AuthzenDecisions");

export const metadataSchema = z
  .object({
    policy_decision_point: z.string(),
    access_evaluation_endpoint: z.string(),
    access_evaluations_endpoint: z.string(),
    access_request_endpoint: z.string(),
    capabilities: z.array(z.string()),
  })
  .openapi("AuthzenMetadata");

export const accessRequestSchema = z
  .object({
    subject,
    action,
    resource,
    context: contextSchema.optional(),
    denial: z.object({
      evaluation_id: text().openapi({ description: "`context.evaluation_id` of the denial" }),
      expires_at: z.string().max(MEMBER_CHARACTERS_MAX),
    }),
    requested_access: argumentsAnswer().optional(),
  })
  .openapi("AccessRequest");

export type AccessRequest = z.output<typeof accessRequestSchema>;

export const taskAnswerSchema = z
  .object({
    task: z.object({
      id: z.string(),
      status: z.enum(["pending", "approved", "denied", "expired", "cancelled", "failed"]),
      status_endpoint: z.string(),
      expires_at: timestamp().optional(),
      links: z.object({ cancel: z.string() }).optional(),
    }),
    result: z
      .object({
        mode: z.literal("reevaluate"),
        approval: z.object({
          id: z.string(),
          approved_at: timestamp(),
          approved_until: timestamp(),
        }),
      })
      .optional(),
  })
  .openapi("AccessRequestTask");

export type TaskAnswer = z.output<typeof taskAnswerSchema>;

export const cancellationSchema = z
  .object({
    reason: z.string().optional(),
    comment: z.string().optional(),
  })
  .openapi("Cancellation");
