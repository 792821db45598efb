/**
 * HTTP clients that propose numbered calls and run the allowed ones, and do not mind that servers are
 * killed: what is not answered with 200 they send again, with the same call id, to whichever server
 * runs. The tool that they run counts its effects by itself, by idempotency key.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { numberedCall } from "../numbered-calls.js";

const RETRY_MS = 20;
const ANSWER_WITHIN_MS = 5_000;

export type NumberedAnswer = {
  readonly outcome: string;
  readonly decisionId: string;
  readonly idempotencyKey: string | undefined;
  readonly reason: string | undefined;
};

type Sent = { readonly status: number; readonly body: Record<string, unknown> };

/** A tool outside: applies the effect of each key once, and remembers what it was asked for. */
export class CountingTool {
  /** Payments by conversation and order: the keys that paid. */
  readonly payments = new Map<string, Set<string>>();
  /** Calls by key. */
  readonly calls = new Map<string, number>();

  run(number: number, key: string): void {
    const { conversationId, arguments: args } = numberedCall(number);
    const payment = `${conversationId}/${(args as { readonly order: string }).order}`;
    const keys = this.payments.get(payment) ?? new Set();
    this.payments.set(payment, keys.add(key));
    this.calls.set(key, (this.calls.get(key) ?? 0) + 1);
  }
}

export class RetryingClients {
  readonly answers = new Map<number, NumberedAnswer>();
  readonly tool = new CountingTool();
  readonly problems: string[] = [];
  readonly #urls: () => readonly string[];
  readonly #token: string;
  #next = 0;
  #isEnding = false;
  #lastAnswerMs = Date.now();
  worstGapMs = 0;
  /** Requests that had to be sent again. */
  retries = 0;

  /** @param urls of the servers that run, or ran until just now */
  constructor(urls: () => readonly string[], token: string) {
    this.#urls = urls;
    this.#token = token;
  }

  /** Runs so many clients until `end`. */
  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#client()));
  }

  /** Every client finishes the call that it is at. */
  end(): void {
    this.#isEnding = true;
  }

  async #client(): Promise<void> {
    while (!this.#isEnding) {
      const number = this.#next;
      this.#next += 1;
      const answer = await this.propose(number);
      this.#note(number, answer);
      if (answer.outcome !== "allowed" || answer.idempotencyKey === undefined) continue;
      this.tool.run(number, answer.idempotencyKey);
      await this.#untilAnswered(`/v1/decisions/${answer.decisionId}/result`, {
        ...{ status: "succeeded", output: { paid: number } },
      });
    }
  }

  /** The decision on a numbered call, whatever it takes. */
  async propose(number: number): Promise<NumberedAnswer> {
    const { turn, step, ...call } = numberedCall(number);
    const body = { ...call, turn, step };
    const { outcome, decisionId, idempotencyKey, refusal } = (
      await this.#untilAnswered("/v1/proposals", body)
    ).body as NumberedAnswer & { readonly refusal?: { readonly reason: string } };
    return { outcome, decisionId, idempotencyKey, reason: refusal?.reason };
  }

  async #untilAnswered(path: string, body: object): Promise<Sent> {
    for (let attempt = 0; ; attempt += 1) {
      const urls = this.#urls();
      const url = urls[(attempt + this.#next) % urls.length];
      const sent = url === undefined ? undefined : await this.#send(`${url}${path}`, body);
      if (sent?.status === 200) return sent;
      if (sent !== undefined && sent.status < 500 && sent.status !== 404 && sent.status !== 429) {
        throw new Error(`${path}: ${sent.status} ${JSON.stringify(sent.body)}`);
      }
      this.retries += 1;
      await sleep(RETRY_MS);
    }
  }

  /** Undefined: no server answered. */
  async #send(url: string, body: object): Promise<Sent | undefined> {
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${this.#token}`,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    } catch {
      return undefined;
    }
  }

  #note(number: number, answer: NumberedAnswer): void {
    const nowMs = Date.now();
    this.worstGapMs = Math.max(this.worstGapMs, nowMs - this.#lastAnswerMs);
    this.#lastAnswerMs = nowMs;
    this.answers.set(number, answer);
  }

  /** Asks for every answered call again, and for what the tool has counted. */
  async check(): Promise<{ readonly lost: number; readonly doubled: number }> {
    let lost = 0;
    const numbers = [...this.answers.keys()];
    const ask = async (): Promise<void> => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        const before = this.answers.get(number);
        const again = await this.propose(number);
        if (JSON.stringify(again) === JSON.stringify(before)) continue;
        lost += 1;
        this.problems.push(`call ${number}: ${JSON.stringify({ before, again })}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, ask));
    const doubled = [...this.tool.payments].filter(([, keys]) => keys.size > 1);
    for (const [payment, keys] of doubled)
      this.problems.push(`${payment}: paid ${keys.size} times`);
    return { lost, doubled: doubled.length };
  }
}
