import { createRoute, z } from "@hono/zod-openapi";
import type { RulingOutcome } from "../../client/api/gate-types.ts";
import { DEFAULT_TENANT, maySee, type Principal } from "../access/principal.ts";
import { requireRole } from "../access/require-role.ts";
import { Problem } from "../http/problem.ts";
import { verdictSchema } from "../schemas/approval.ts";
import { jsonAnswer, MISSING, optionalBody, PROBLEMS } from "../schemas/common.ts";
import type { ServeApp, ServeAppParts } from "../serve-env.ts";

const conversationParam = z.object({
  conversationId: z.string().openapi({ param: { name: "conversationId", in: "path" } }),
});
const tenantQuery = z.object({
  tenantId: z
    .string()
    .optional()
    .openapi({ param: { name: "tenantId", in: "query" } }),
});
const rulingSchema = z
  .object({ taken: z.boolean(), why: z.string().optional() })
  .openapi("RulingOutcome");

const order = (kind: "end" | "resume", summary: string) =>
  createRoute({
    method: "post",
    path: `/v1/conversations/{conversationId}/${kind}`,
    operationId: `${kind}Conversation`,
    middleware: requireRole("approve", "admin"),
    summary,
    tags: ["conversations"],
    request: { params: conversationParam, query: tenantQuery, body: optionalBody(verdictSchema) },
    responses: {
      200: jsonAnswer(rulingSchema, "whether it changed anything"),
      ...MISSING,
      ...PROBLEMS,
    },
  });

const ORDERS = {
  end: order("end", "Refuse all further calls of a conversation"),
  resume: order("resume", "Decide calls of an ended conversation again"),
} as const;

export function addConversations(app: ServeApp, { served: { gate } }: ServeAppParts): void {
  for (const kind of ["end", "resume"] as const) {
    app.openapi(ORDERS[kind], async (c) => {
      const principal = c.get("principal");
      const { conversationId } = c.req.valid("param");
      const conversation = seenConversation(
        principal,
        conversationId,
        c.req.valid("query").tenantId,
      );
      const { reason } = c.req.valid("json");
      const verdict = { by: principal.name, ...(reason === undefined ? {} : { reason }) };
      const outcome: RulingOutcome =
        kind === "end"
          ? await gate.endConversation(conversation, verdict)
          : await gate.resume(conversation, verdict);
      return c.json(outcome, 200);
    });
  }
}

/** @throws Problem 404 if the principal may not know of it */
export function seenConversation(
  principal: Principal,
  conversationId: string,
  stated: string | undefined,
): { readonly tenantId: string; readonly conversationId: string } {
  const tenantId = stated ?? principal.tenantId ?? DEFAULT_TENANT;
  const conversation = { tenantId, conversationId };
  if (maySee(principal, conversation)) return conversation;
  throw new Problem({
    status: 404,
    code: "unknown_conversation",
    detail: `there is no conversation \`${conversationId}\` of this tenant`,
    remedy: "Use a token of its tenant",
  });
}
