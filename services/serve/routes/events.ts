import { createRoute } from "@hono/zod-openapi";
import { maySee, type Principal } from "../access/principal.ts";
import { requireRole } from "../access/require-role.ts";
import { type PartitionPosition, parsePosition } from "../events/event-position.ts";
import { eventStream } from "../events/event-stream.ts";
import { EVENT_TYPES, type ShownEvent } from "../events/shown-event.ts";
import { Problem } from "../http/problem.ts";
import type { JournalTail } from "../journal/journal-tail.ts";
import { PROBLEMS } from "../schemas/common.ts";
import { eventsHeaders, eventsQuery, shownEventSchema } from "../schemas/event.ts";
import type { ServeApp, ServeAppParts, ServeContext } from "../serve-env.ts";

/** Clients that may follow at the same time: each takes some of the decisions' time. */
const STREAMS_MAX = 100;

const route = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "followEvents",
  middleware: requireRole("read"),
  summary: "Follow decisions, results and orders as server-sent events",
  tags: ["events"],
  request: { query: eventsQuery, headers: eventsHeaders },
  responses: {
    200: {
      content: { "text/event-stream": { schema: shownEventSchema } },
      description:
        "`id` is the position in the journal, `event` the type, `data` the event as JSON; a comment comes at least every 15 s",
    },
    ...PROBLEMS,
  },
});

type Filter = {
  readonly type?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly tool?: string | undefined;
};

export function addEvents(app: ServeApp, { ending }: ServeAppParts, tail: JournalTail): void {
  let streams = 0;
  app.openapi(route, async (c) => {
    const filter = c.req.valid("query");
    const isWanted = wantedBy(c.get("principal"), filter);
    if (streams >= STREAMS_MAX) throw tooMany();
    await tail.follow();
    const lastId = c.req.valid("header")["last-event-id"];
    const from = await (lastId === undefined
      ? positionsAt(tail, filter.from)
      : positionsAfter(tail, lastId));
    streams += 1;
    const onEnd = (): void => {
      streams -= 1;
    };
    const cutOff = (): void => connectionOf(c)?.destroy();
    const stream = eventStream({ tail, from, isWanted, ending, cutOff, onEnd });
    return c.body(stream, 200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      // Proxies must not collect events.
      "X-Accel-Buffering": "no",
    });
  });
}

/** The response of Node's server; absent where the app runs without one. */
function connectionOf(c: ServeContext): { destroy(): void } | undefined {
  return (c.env as { readonly outgoing?: { destroy(): void } } | undefined)?.outgoing;
}

/** @throws Problem 400 for an unknown type */
function wantedBy(principal: Principal, filter: Filter): (event: ShownEvent) => boolean {
  const types = filter.type?.split(",").map((type) => type.trim());
  const unknown = types?.find((type) => !(EVENT_TYPES as readonly string[]).includes(type));
  if (unknown !== undefined) throw unknownType(unknown);
  const { tenantId, conversationId, tool } = filter;
  return (event) =>
    maySee(principal, event) &&
    (types === undefined || types.includes(event.type)) &&
    (tenantId === undefined || tenantId === event.tenantId) &&
    (conversationId === undefined || conversationId === event.conversationId) &&
    (tool === undefined || ("tool" in event && event.tool === tool));
}

async function positionsAt(
  tail: JournalTail,
  from: "start" | "now",
): Promise<readonly PartitionPosition[]> {
  const positions: PartitionPosition[] = [];
  for (let partition = 0; partition < tail.partitions; partition += 1) {
    const offset =
      from === "start" ? await tail.startOffset(partition) : await tail.endOffset(partition);
    positions.push({ offset, event: 0 });
  }
  return positions;
}

/** @throws Problem 400 where it is no position of this journal */
async function positionsAfter(
  tail: JournalTail,
  lastId: string,
): Promise<readonly PartitionPosition[]> {
  const positions = parsePosition(lastId, tail.partitions);
  if (positions === null) throw unknownPosition(lastId);
  for (const [partition, { offset }] of positions.entries()) {
    if (offset > (await tail.endOffset(partition))) throw unknownPosition(lastId);
  }
  return positions;
}

function unknownType(type: string): Problem {
  return new Problem({
    status: 400,
    code: "invalid_input",
    detail: `there are no events of the type \`${type}\``,
    at: "query.type",
    remedy: `Use some of ${EVENT_TYPES.join(", ")}`,
  });
}

function unknownPosition(lastId: string): Problem {
  return new Problem({
    status: 400,
    code: "unknown_position",
    detail: `\`${lastId}\` is no position in this journal`,
    at: "Last-Event-ID",
    remedy: "Leave the header out, and read everything with ?from=start, or what is new without it",
  });
}

function tooMany(): Problem {
  return new Problem({
    status: 503,
    code: "too_many_streams",
    detail: `${STREAMS_MAX} clients follow the events of this server already`,
    remedy: "Try again later, or let one client pass the events on",
    retryAfter: 10,
  });
}
