// The load generator, a process of its own: `node load.js URL TOKEN CONNECTIONS SECONDS FORM`. Each connection
// sends a proposal, reads the answer, and sends the next. It prints one line of JSON.
import { connect, type Socket } from "node:net";
import { percentile } from "../bench-row.ts";

const WARM_UP_MS = 1_000;
const MS_PER_SECOND = 1_000;
const CALLS_PER_CONVERSATION = 20;
const WRONG_MAX = 3;

export type LoadResult = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** All of them, those of the warm-up too. */
  readonly answers: number;
  /** Answers that are not 200 and `allowed`, the first of them. */
  readonly wrong: readonly string[];
};

/** Reads answers one after the other: none is sent before the one before is read. */
class AnswerReader {
  #text = "";

  /** The whole answer, or undefined while a part of it is missing. */
  add(chunk: string): string | undefined {
    this.#text += chunk;
    const headEnd = this.#text.indexOf("\r\n\r\n");
    if (headEnd < 0) return undefined;
    const head = this.#text.slice(0, headEnd).toLowerCase();
    const [, length] = /\r\ncontent-length: (\d+)/.exec(head) ?? [];
    const isWhole =
      length === undefined
        ? this.#text.endsWith("\r\n0\r\n\r\n")
        : this.#text.length >= headEnd + 4 + Number(length);
    if (!isWhole) return undefined;
    const answer = this.#text;
    this.#text = "";
    return answer;
  }
}

/** How a server is asked, and what its permission looks like. */
const FORMS = {
  callgate: { path: "/v1/proposals", wrap: (call: object) => call, allowed: '"allowed"' },
  opa: { path: "/v1/data/tools/allow", wrap: (input: object) => ({ input }), allowed: "true" },
} as const;
type Form = (typeof FORMS)[keyof typeof FORMS];

function requestOf(head: string, { wrap }: Form, connection: number, nth: number): string {
  const conversation = `bench-${process.pid}-${connection}-${Math.floor(nth / CALLS_PER_CONVERSATION)}`;
  const call = {
    ...{ conversationId: conversation, callId: `call-${nth}`, turn: "1", step: nth },
    ...{ tool: "get_order", arguments: { order_id: `order-${nth}`, fields: ["total", "status"] } },
  };
  const body = JSON.stringify(wrap(call));
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

type Target = { readonly url: string; readonly token: string; readonly form: Form };

async function load({ url, token, form }: Target, connections: number, seconds: number) {
  const { hostname, port } = new URL(url);
  const head = `POST ${form.path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\n`;
  const samples: number[] = [];
  const wrong: string[] = [];
  const startedMs = performance.now() + WARM_UP_MS;
  const endMs = startedMs + seconds * MS_PER_SECOND;
  let answers = 0;
  const note = (answer: string, sentMs: number, nowMs: number): void => {
    answers += 1;
    if (sentMs >= startedMs) samples.push(nowMs - sentMs);
    const isAllowed = answer.startsWith("HTTP/1.1 200") && answer.includes(form.allowed);
    if (!isAllowed && wrong.length < WRONG_MAX) wrong.push(answer.slice(0, 500));
  };
  const drive = (connection: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
      const reader = new AnswerReader();
      let nth = 0;
      let sentMs = 0;
      const send = (): void => {
        sentMs = performance.now();
        socket.write(requestOf(head, form, connection, nth));
        nth += 1;
      };
      socket.once("error", reject);
      socket.once("connect", send);
      socket.once("close", () => resolve());
      socket.setEncoding("latin1").on("data", (chunk: string) => {
        const answer = reader.add(chunk);
        if (answer === undefined) return;
        const nowMs = performance.now();
        if (nowMs >= endMs) {
          socket.destroy();
          return;
        }
        note(answer, sentMs, nowMs);
        send();
      });
    });
  await Promise.all(Array.from({ length: connections }, (_, at) => drive(at)));
  const sorted = Float64Array.from(samples).sort();
  const result: LoadResult = {
    perSecond: samples.length / seconds,
    ...{ p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) },
    ...{ answers, wrong },
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

const [url = "", token = "", connections = "1", seconds = "1", form] = process.argv.slice(2);
const target = { url, token, form: FORMS[form === "opa" ? "opa" : "callgate"] };
await load(target, Number(connections), Number(seconds));
