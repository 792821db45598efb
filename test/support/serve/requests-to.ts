// Requests to a server in another process.
import { join } from "node:path";
import { createAccessToken, type Role } from "../../../services/adapters/tokens/access-tokens.ts";
import { TOKENS_DIRECTORY } from "../../../services/serve/main.ts";

export interface Requests {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the server answers
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: any }>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the server answers
  get(path: string): Promise<{ readonly status: number; readonly body: any }>;
  /** Follows `/v1/events` until there are so many; the blocks as the server sent them. */
  follow(query: string, count: number, lastId?: string): Promise<readonly SentEvent[]>;
}

export type SentEvent = {
  readonly id: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the server answers
  readonly data: any;
};

/** A token that may do everything in all tenants, in a directory that a server has made. */
export function makeToken(directory: string): string {
  const roles: readonly Role[] = ["propose", "execute", "approve", "read"];
  const all = { tenantId: null, agentId: null, conversationId: null, expiresAtMs: null };
  const grant = { name: "tester", roles, platform: true, ...all };
  return createAccessToken(join(directory, TOKENS_DIRECTORY), grant, Date.now());
}

export function requestsTo(url: string, token: string): Requests {
  const authorization = { authorization: `Bearer ${token}` };
  const send = async (path: string, init: RequestInit) => {
    const answer = await fetch(`${url}${path}`, init);
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  return {
    post: (path, body) => {
      const headers = { ...authorization, "content-type": "application/json" };
      return send(path, { method: "POST", headers, body: JSON.stringify(body) });
    },
    get: (path) => send(path, { headers: authorization }),
    follow: async (query, count, lastId) => {
      const resumed = lastId === undefined ? {} : { "last-event-id": lastId };
      const stop = new AbortController();
      const answer = await fetch(`${url}/v1/events${query}`, {
        headers: { ...authorization, ...resumed },
        signal: stop.signal,
      });
      try {
        return await eventsOf(answer, count);
      } finally {
        stop.abort();
      }
    },
  };
}

/** Fewer if the server ends the stream. */
async function eventsOf(answer: Response, count: number): Promise<readonly SentEvent[]> {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const events = eventsIn(text);
    if (events.length >= count) return events.slice(0, count);
  }
  return eventsIn(text);
}

function eventsIn(text: string): readonly SentEvent[] {
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
