import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { parsePosition, positionText } from "../../../services/serve/events/event-position.ts";
import { eventStream } from "../../../services/serve/events/event-stream.ts";
import { JournalTail } from "../../../services/serve/journal/journal-tail.ts";
import { type OpenServeApp, openServeApp } from "../../support/serve/open-serve-app.ts";

const POLICY = {
  authorization: {
    tiers: [{ name: "removals", pattern: "delete_*", action: "hitl", expires_ms: 60_000 }],
  },
  tool_schemas: {
    get_order: { read_only: true, reads: ["order/{id}"] },
    send_email: { effects: [{ resource: "mail/{to}", kind: "send" }], sensitive: ["to"] },
  },
};

type Sent = { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };

/** Reads events until there are so many. */
async function follow(
  serve: OpenServeApp,
  path: string,
  count: number,
  { lastId = "", token = serve.token() } = {},
): Promise<readonly Sent[]> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
  if (lastId !== "") headers["Last-Event-ID"] = lastId;
  const answer = await serve.kit.app.request(path, { headers });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  onTestFinished(() => reader.cancel());
  let text = "";
  for (;;) {
    const events = sentIn(text);
    if (events.length >= count) return events.slice(0, count);
    const { value, done } = await reader.read();
    if (done) return events;
    text += new TextDecoder().decode(value);
  }
}

function sentIn(text: string): readonly Sent[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .filter((block) => block.startsWith("id: "))
    .map((block) => {
      const [id = "", type = "", data = ""] = block
        .split("\n")
        .map((line) => line.replace(/^\w+: /, ""));
      return { id, type, data: JSON.parse(data) };
    });
}

async function propose(serve: OpenServeApp, callId: string, more: object = {}) {
  const call = { conversationId: "c-1", tool: "get_order", arguments: { id: callId }, callId };
  return (await serve.post("/v1/proposals", { ...call, ...more })).body;
}

test("the feed has decisions, results and orders in the order of the journal", async () => {
  const serve = await openServeApp(POLICY);
  const { decisionId } = await propose(serve, "a");
  await serve.post(`/v1/decisions/${decisionId}/result`, { status: "succeeded", output: "7" });
  const held = await propose(serve, "b", { tool: "delete_order" });
  await serve.post(`/v1/approvals/${held.approvalId}/deny`, { reason: "no" });
  await serve.post("/v1/conversations/c-1/end", {});
  const events = await follow(serve, "/v1/events?from=start", 5);
  expect(events.map(({ type }) => type)).toEqual([
    ...["allowed", "result", "held", "refused", "conversation_ended"],
  ]);
  expect(events[0]?.data).toMatchObject({ type: "allowed", decisionId, arguments: { id: "a" } });
  expect(events[1]?.data).toMatchObject({ status: "succeeded", decisionId });
  expect(events[3]?.data).toMatchObject({
    endedApprovalId: held.approvalId,
    approvedBy: ["tester"],
  });
});

test("whoever resumes after any id gets the rest, once", async () => {
  const serve = await openServeApp(POLICY);
  for (const callId of ["a", "b", "c", "d", "e"]) await propose(serve, callId);
  const all = await follow(serve, "/v1/events?from=start", 5);
  expect(all).toHaveLength(5);
  for (const [at, { id }] of all.slice(0, 4).entries()) {
    const rest = await follow(serve, "/v1/events", 4 - at, { lastId: id });
    expect(rest).toEqual(all.slice(at + 1));
  }
});

test("a client that follows gets what is decided from now on", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a");
  const following = follow(serve, "/v1/events?type=allowed&tool=get_order", 2);
  await sleep(100);
  await propose(serve, "b", { tool: "delete_order" });
  await propose(serve, "c");
  await propose(serve, "d");
  expect((await following).map(({ data }) => data["callId"])).toEqual(["c", "d"]);
});

test("a token sees only events of its tenant, and no sensitive value or key", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a", { tenantId: "other" });
  await propose(serve, "b", { tool: "send_email", arguments: { to: "ann@example.com" } });
  const token = serve.token({ roles: ["read"], tenantId: "default" });
  const [event] = await follow(serve, "/v1/events?from=start", 1, { token });
  expect(event?.data).toMatchObject({ callId: "b", tenantId: "default" });
  expect(JSON.stringify(event)).not.toMatch(/ann@example|idempotency/);
});

test("positions and types that do not exist are refused", async () => {
  const serve = await openServeApp(POLICY);
  const authorization = { Authorization: `Bearer ${serve.token()}` };
  for (const lastId of ["x", "1,2", "999999", "-2", "1.x"]) {
    const headers = { ...authorization, "Last-Event-ID": lastId };
    const answer = await serve.kit.app.request("/v1/events", { headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "unknown_position" });
  }
  expect(await serve.get("/v1/events?type=alowed")).toMatchObject({ status: 400 });
});

test("a stream without events has heartbeats, and ends with the server", async () => {
  const serve = await openServeApp(POLICY);
  const { reader, ending } = await stream(serve, { heartbeatMs: 10 });
  expect(await textOf(reader)).toBe(": connected\n\n");
  expect(await textOf(reader)).toBe(": heartbeat\n\n");
  const last = reader.read();
  ending.abort();
  const { done } = await last;
  expect(done || (await reader.read()).done).toBe(true);
});

test("the journal is not read for a client that does not read, and it is cut off", async () => {
  const serve = await openServeApp(POLICY);
  for (const callId of ["a", "b", "c"]) await propose(serve, callId);
  let reads = 0;
  const tail = new JournalTail(serve.kit.served.link);
  const read = tail.read.bind(tail);
  tail.read = (partition, offset) => {
    reads += 1;
    return read(partition, offset);
  };
  await new Promise<void>((cutOff) => {
    void stream(serve, { tail, unreadMs: 50, cutOff }).then(({ reader }) => reader.read());
  });
  expect(reads).toBe(0);
});

async function stream(serve: OpenServeApp, parts: Partial<Parameters<typeof eventStream>[0]>) {
  const tail = parts.tail ?? new JournalTail(serve.kit.served.link);
  await tail.follow();
  const ending = new AbortController();
  const from = [{ offset: await tail.endOffset(0), event: 0 }];
  const nothing = () => undefined;
  const isWanted = () => true;
  const reader = eventStream({
    ...{ tail, from, isWanted, ending: ending.signal, cutOff: nothing, onEnd: nothing },
    ...parts,
  }).getReader();
  onTestFinished(() => reader.cancel());
  return { reader, ending };
}

async function textOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  return new TextDecoder().decode((await reader.read()).value);
}

test("a position has one part for each partition, and survives as text", () => {
  for (const text of ["7", "-1", "7.2", "7,-1,0.0"]) {
    const positions = parsePosition(text, text.split(",").length);
    expect(positions).not.toBeNull();
    expect(positionText(positions ?? [])).toBe(text);
  }
  expect(parsePosition("7,8", 3)).toBeNull();
});
