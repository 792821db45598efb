// Against a real receiver on this machine.
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Resolve } from "../../../../services/adapters/webhooks/check-address.ts";
import {
  sendWebhook,
  type WebhookRequest,
} from "../../../../services/adapters/webhooks/send-webhook.ts";
import { CERTIFICATE, KEY } from "../../../support/tls/fixed-pair.ts";
import { WebhookReceiver } from "../../../support/webhook-receiver.ts";

const LONG_MS = 30_000;

function requestTo(url: string, overrides: Partial<WebhookRequest> = {}): WebhookRequest {
  return {
    ...{ url, allowPrivate: true, headers: { "x-one": "1" }, body: '{"a":"ü"}' },
    ...{ timeoutMs: LONG_MS, signal: new AbortController().signal, ...overrides },
  };
}

describe("a webhook", () => {
  test("is posted with its headers and its body", async () => {
    const receiver = await WebhookReceiver.start();
    expect(await sendWebhook(requestTo(receiver.url))).toEqual({ ok: true });
    expect(receiver.requests).toHaveLength(1);
    expect(receiver.requests[0]).toMatchObject({
      ...{ path: "/hook", body: '{"a":"ü"}' },
      headers: { "x-one": "1", "content-length": "10" },
    });
  });

  test.each([199, 204, 299])(
    "succeeds with the statuses from 200 to 299 alone (%i)",
    async (code) => {
      const receiver = await WebhookReceiver.start();
      receiver.answer = (response) => void response.writeHead(code).end();
      // Node gives 1xx no meaning as an answer, so the request would wait.
      const sent = await sendWebhook(
        requestTo(receiver.url, { timeoutMs: code < 200 ? 200 : LONG_MS }),
      );
      expect(sent.ok).toBe(code >= 200);
    },
  );

  test("does not follow a redirect", async () => {
    const other = await WebhookReceiver.start();
    const receiver = await WebhookReceiver.start();
    receiver.answer = (response) =>
      void response.writeHead(307, { location: other.url, "retry-after": "7" }).end();
    expect(await sendWebhook(requestTo(receiver.url))).toEqual({
      ...{ ok: false, status: 307, retryAfterMs: 7_000 },
      problem: "the receiver answered 307: redirects are not followed, set the address itself",
    });
    expect(other.requests).toEqual([]);
  });

  test("fails without an answer in time, and when it is ended", async () => {
    const receiver = await WebhookReceiver.start();
    receiver.answer = () => undefined;
    const late = await sendWebhook(requestTo(receiver.url, { timeoutMs: 50 }));
    expect(late).toMatchObject({ ok: false, problem: "no answer within 50 ms", status: null });
    const end = new AbortController();
    receiver.answer = () => end.abort();
    const ended = await sendWebhook(requestTo(receiver.url, { signal: end.signal }));
    expect(ended).toMatchObject({ ok: false, status: null });
  });

  test("counts an answer that never ends, and reads little of it", async () => {
    const receiver = await WebhookReceiver.start();
    let written = 0;
    receiver.answer = (response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
      };
      response.on("drain", more);
      more();
    };
    expect(await sendWebhook(requestTo(receiver.url))).toEqual({ ok: true });
    receiver.answer = (response) => void response.writeHead(200).write("x");
    expect(await sendWebhook(requestTo(receiver.url, { timeoutMs: 100 }))).toEqual({ ok: true });
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  test("fails with a sentence where nobody listens, and never shows the address", async () => {
    const url = "http://127.0.0.1:9/a-secret-path?token=x";
    const sent = await sendWebhook(requestTo(url));
    expect(sent).toMatchObject({ ok: false, problem: expect.stringContaining("ECONNREFUSED") });
    expect(JSON.stringify(sent)).not.toMatch(/a-secret-path|token/);
  });

  test("is not sent to a server whose certificate is not trusted", async () => {
    const requests: unknown[] = [];
    const server = createServer({ cert: CERTIFICATE, key: KEY }, (request) =>
      requests.push(request),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const sent = await sendWebhook(requestTo(`https://127.0.0.1:${port}/`));
    expect(sent).toMatchObject({ ok: false, status: null });
    expect(requests).toEqual([]);
  });
});

describe("the address of a webhook", () => {
  test.each([
    "http://127.0.0.1",
    "http://2130706433",
    "http://0x7f.1",
    "http://[::1]",
    "http://[::ffff:7f00:1]",
  ])("%s is refused where the target allows no private ones", async (origin) => {
    const receiver = await WebhookReceiver.start();
    const request = requestTo(`${origin}:${receiver.port}/`, { allowPrivate: false });
    const sent = await sendWebhook(request);
    expect(sent).toMatchObject({ ok: false, problem: expect.stringContaining("is refused") });
    expect(receiver.requests).toEqual([]);
  });

  test("of a name is that which was checked, whatever DNS says next", async () => {
    const asked: string[] = [];
    const answers = ["127.0.0.1", "127.0.0.2"];
    const rebinding: Resolve = async (host) => {
      asked.push(host);
      return [{ address: answers[asked.length - 1] ?? "", family: 4 }];
    };
    const first = await WebhookReceiver.start("127.0.0.1");
    const second = await WebhookReceiver.start("127.0.0.2", first.port);
    const sent = await sendWebhook(requestTo(`http://receiver.test:${first.port}/`), rebinding);
    expect(sent).toEqual({ ok: true });
    expect([asked, first.requests.length, second.requests.length]).toEqual([
      ["receiver.test"],
      1,
      0,
    ]);
    expect(first.requests[0]?.headers.host).toBe(`receiver.test:${first.port}`);
  });

  test("is judged at every connection, since DNS may change", async () => {
    const receiver = await WebhookReceiver.start();
    const url = `http://receiver.test:${receiver.port}/`;
    const resolve =
      (address: string): Resolve =>
      async () => [{ address, family: 4 }];
    expect(await sendWebhook(requestTo(url), resolve("127.0.0.1"))).toEqual({ ok: true });
    const moved = await sendWebhook(requestTo(url), resolve("169.254.169.254"));
    expect(moved).toMatchObject({
      ok: false,
      problem: "`receiver.test` is refused: 169.254.169.254 is no public address (linkLocal)",
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test("that DNS never gives ends with the time", async () => {
    const sent = await sendWebhook(
      requestTo("http://receiver.test/", { timeoutMs: 50 }),
      () => new Promise(() => undefined),
    );
    expect(sent).toMatchObject({ ok: false, problem: "no answer within 50 ms" });
  });
});
