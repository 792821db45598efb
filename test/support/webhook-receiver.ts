// A receiver of webhooks on this machine, which remembers what it got.
import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export const WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8G";

export type ReceivedWebhook = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export class WebhookReceiver {
  readonly requests: ReceivedWebhook[] = [];
  /** How it answers; by default with 200. */
  answer: (response: ServerResponse, request: ReceivedWebhook) => void = (response) =>
    void response.end();
  #port = 0;

  static async start(host = "127.0.0.1", port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    const server = createServer((request, response) => {
      // A request that is cut off is none.
      void text(request).then(
        (body) => {
          const received = { path: request.url ?? "", headers: request.headers, body };
          receiver.requests.push(received);
          receiver.answer(response, received);
        },
        () => undefined,
      );
    });
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    receiver.#port = (server.address() as AddressInfo).port;
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return receiver;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  /** Types of the CloudEvents that came, in their order. */
  get types(): readonly string[] {
    return this.requests.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  }

  get ids(): readonly string[] {
    return this.requests.map(({ headers }) => String(headers["webhook-id"]));
  }
}

/** The signature that a request must have under a secret. */
export function signatureOf({ headers, body }: ReceivedWebhook, secret: string): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
