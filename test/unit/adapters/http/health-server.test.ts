import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Health,
  startHealthServer,
} from "../../../../services/adapters/http/health-server.ts";

const UP: Health = { ok: true, detail: {} };

async function start(options: {
  readonly ready?: () => Health;
  readonly text?: () => Promise<string>;
}) {
  const server = await startHealthServer({
    host: "127.0.0.1",
    port: 0,
    live: () => UP,
    ready: options.ready ?? (() => UP),
    metrics: { contentType: "text/plain", text: options.text ?? (async () => "a 1\n") },
  });
  onTestFinished(() => server.close());
  return (path: string, method = "GET") =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { method });
}

describe("the health server", () => {
  test("answers liveness, readiness and metrics", async () => {
    const ask = await start({});
    const live = await ask("/livez");
    expect(live.status).toBe(200);
    expect(await live.json()).toEqual({ ok: true });
    expect((await ask("/readyz?verbose")).status).toBe(200);
    const metrics = await ask("/metrics");
    expect(metrics.headers.get("content-type")).toBe("text/plain");
    expect(await metrics.text()).toBe("a 1\n");
  });

  test("reports why a process is not ready, while it is alive", async () => {
    const detail = { partitions: [{ partition: 0, state: "restoring" }] };
    const ask = await start({ ready: () => ({ ok: false, detail }) });
    const ready = await ask("/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ ok: false, ...detail });
    expect((await ask("/livez")).status).toBe(200);
  });

  test("refuses other paths and methods", async () => {
    const ask = await start({});
    expect((await ask("/")).status).toBe(404);
    expect((await ask("/metrics/../etc")).status).toBe(404);
    expect((await ask("/livez", "POST")).status).toBe(405);
    expect((await ask("/livez", "HEAD")).status).toBe(200);
  });

  test("answers an error where the metrics cannot be read, and goes on", async () => {
    const ask = await start({ text: () => Promise.reject(new Error("secret of the inside")) });
    const metrics = await ask("/metrics");
    expect(metrics.status).toBe(500);
    expect(await metrics.text()).not.toContain("secret");
    expect((await ask("/livez")).status).toBe(200);
  });

  test("fails to start where the address is in use", async () => {
    const parts = { host: "127.0.0.1", live: () => UP, ready: () => UP };
    const metrics = { contentType: "text/plain", text: async () => "" };
    const first = await startHealthServer({ ...parts, port: 0, metrics });
    onTestFinished(() => first.close());
    await expect(startHealthServer({ ...parts, port: first.port, metrics })).rejects.toThrow(
      "EADDRINUSE",
    );
  });
});
