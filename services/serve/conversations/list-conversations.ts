/** One page of the recent conversations. */
import { maySee, type Principal } from "../access/principal.ts";
import { Problem } from "../http/problem.ts";
import {
  type ActivityPoint,
  type ConversationSummary,
  compareActivity,
  type RecentConversations,
} from "./recent-conversations.ts";

export type PageRequest = {
  readonly tenantId?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
};

export type ConversationPage = {
  readonly conversations: readonly ConversationSummary[];
  /** For the next page; null: this is the last one. */
  readonly nextCursor: string | null;
  /** Older activity is not included (Unix time in ms); null: nothing is left out. */
  readonly since: number | null;
};

/** @throws CallgateError; Problem 400 for a cursor that no answer had */
export async function listConversations(
  recent: RecentConversations,
  principal: Principal,
  { tenantId, limit, cursor }: PageRequest,
): Promise<ConversationPage> {
  const last = cursor === undefined ? null : parseCursor(cursor);
  const all = (await recent.list()).filter(
    (one) =>
      maySee(principal, one) &&
      (tenantId === undefined || one.tenantId === tenantId) &&
      (last === null || compareActivity(last, one) < 0),
  );
  const conversations = all.slice(0, limit);
  const end = conversations.at(-1);
  const isMore = end !== undefined && all.length > limit;
  return { conversations, nextCursor: isMore ? cursorOf(end) : null, since: recent.since };
}

function cursorOf({ lastActivityAt, tenantId, conversationId }: ActivityPoint): string {
  const text = JSON.stringify([lastActivityAt, tenantId, conversationId]);
  return Buffer.from(text, "utf8").toString("base64url");
}

function parseCursor(cursor: string): ActivityPoint {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(value) && typeof value[0] === "number") {
      const [lastActivityAt, tenantId, conversationId] = value as [number, unknown, unknown];
      return {
        lastActivityAt,
        tenantId: String(tenantId),
        conversationId: String(conversationId),
      };
    }
  } catch {
    // Below.
  }
  throw new Problem({
    status: 400,
    code: "invalid_input",
    detail: "`cursor` is not one that an answer had",
    at: "query.cursor",
    remedy: "Send the `nextCursor` of the page before, or none for the first page",
  });
}
