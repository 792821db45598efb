import { createRoute, z } from "@hono/zod-openapi";
import type { RulingOutcome } from "../../client/api/gate-types.ts";
import { DEFAULT_TENANT, maySee, type Principal } from "../access/principal.ts";
import { requireRole } from "../access/require-role.ts";
import { listConversations } from "../conversations/list-conversations.ts";
import { RecentConversations } from "../conversations/recent-conversations.ts";
import { readTimeline } from "../conversations/timeline.ts";
import { Problem } from "../http/problem.ts";
import type { JournalTail } from "../journal/journal-tail.ts";
import { verdictSchema } from "../schemas/approval.ts";
import { jsonAnswer, MISSING, optionalBody, PROBLEMS } from "../schemas/common.ts";
import {
  conversationPageSchema,
  conversationParam,
  conversationsQuery,
  timelineQuery,
  timelineSchema,
} from "../schemas/conversation.ts";
import type { ServeApp, ServeAppParts } from "../serve-env.ts";

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

const listRoute = createRoute({
  method: "get",
  path: "/v1/conversations",
  operationId: "listConversations",
  middleware: requireRole("read", "approve"),
  summary: "List recent conversations, the latest activity first",
  tags: ["conversations"],
  request: { query: conversationsQuery },
  responses: { 200: jsonAnswer(conversationPageSchema, "one page of them"), ...PROBLEMS },
});

const timelineRoute = createRoute({
  method: "get",
  path: "/v1/conversations/{conversationId}",
  operationId: "getConversation",
  middleware: requireRole("read", "approve"),
  summary: "Show the calls of a conversation with their decisions and results",
  tags: ["conversations"],
  request: { params: conversationParam, query: timelineQuery },
  responses: {
    200: jsonAnswer(timelineSchema, "the conversation, its oldest call first"),
    ...MISSING,
    ...PROBLEMS,
  },
});

const ORDERS = {
  end: order("end", "Refuse all further calls of a conversation"),
  resume: order("resume", "Decide calls of an ended conversation again"),
} as const;

export function addConversations(
  app: ServeApp,
  { served }: ServeAppParts,
  tail: JournalTail,
): void {
  const { gate } = served;
  const recent = new RecentConversations(tail);
  app.openapi(listRoute, async (c) => {
    const page = await listConversations(recent, c.get("principal"), c.req.valid("query"));
    return c.json(page, 200);
  });
  app.openapi(timelineRoute, async (c) => {
    const { conversationId } = c.req.valid("param");
    const { tenantId, limit } = c.req.valid("query");
    const name = seenConversation(c.get("principal"), conversationId, tenantId);
    const timeline = await readTimeline(served, name, limit);
    if (timeline === null) throw unknownConversation(conversationId);
    return c.json(timeline, 200);
  });
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
  throw unknownConversation(conversationId);
}

function unknownConversation(conversationId: string): Problem {
  return new Problem({
    status: 404,
    code: "unknown_conversation",
    detail: `there is no conversation \`${conversationId}\` of this tenant`,
    at: "conversationId",
    remedy: "Name its tenant with ?tenantId=, and use a token of it",
  });
}
