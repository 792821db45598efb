/**
 * The tool of a conformance run: an HTTP endpoint on this machine that counts the effects. The
 * executor's handler posts each call to it. A call may be told to wait before it is answered, so
 * that the executor can be killed while its handler runs.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Effect = {
  readonly decisionId: string;
  readonly idempotencyKey: string;
  readonly arguments: unknown;
};

/** How the tool treats one call. */
export type Treatment = {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Resolves when the call may be answered; absent: at once. */
  readonly until?: Promise<void>;
  readonly delayMs?: number;
  /** Called when the answer has left. */
  readonly onAnswered?: () => void;
};

const BODY_CHARACTERS_MAX = 1_000_000;
const AT_ONCE: Treatment = { status: 200 };

export class EffectEndpoint {
  readonly #server: Server;
  readonly #effects = new Map<string, Effect[]>();
  readonly #treatments = new Map<string, Treatment>();
  #problem: string | null = null;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async open(): Promise<EffectEndpoint> {
    const endpoint = new EffectEndpoint();
    await new Promise<void>((resolve, reject) => {
      endpoint.#server.once("error", reject);
      endpoint.#server.listen({ host: "127.0.0.1", port: 0 }, resolve);
    });
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/effects`;
  }

  /** What is wrong with a request that was not of the agreed form; null: nothing. */
  get problem(): string | null {
    return this.#problem;
  }

  treat(decisionId: string, treatment: Treatment): void {
    this.#treatments.set(decisionId, treatment);
  }

  effectsOf(decisionId: string): readonly Effect[] {
    return this.#effects.get(decisionId) ?? [];
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const effect = parseEffect(await readBody(request));
    if (effect === null) {
      this.#problem ??= "it has no text `decisionId` and `idempotencyKey`, and no `arguments`";
      response.writeHead(400).end();
      return;
    }
    const { decisionId } = effect;
    const earlier = this.#effects.get(decisionId) ?? [];
    this.#effects.set(decisionId, [...earlier, effect]);
    const { status, until, delayMs = 0, onAnswered } = this.#treatments.get(decisionId) ?? AT_ONCE;
    await until;
    if (delayMs > 0) await sleep(delayMs);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ done: decisionId }), onAnswered);
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > BODY_CHARACTERS_MAX) throw new Error("the request is too large");
  }
  return text;
}

/** Null: not of the agreed form. */
function parseEffect(text: string): Effect | null {
  try {
    const body = JSON.parse(text) as Partial<Effect> | null;
    const { decisionId, idempotencyKey, arguments: args } = body ?? {};
    const isComplete = typeof decisionId === "string" && typeof idempotencyKey === "string";
    return isComplete && args !== undefined
      ? { decisionId, idempotencyKey, arguments: args }
      : null;
  } catch {
    return null;
  }
}
