import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { configOf } from "../../../services/adapters/config/load-config.ts";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { AlertOutbox } from "../../../services/analytics/alert-outbox.ts";
import { startAnalytics } from "../../../services/analytics/start-analytics.ts";
import { openLog } from "../../../services/process/directory/open-log.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";
import { createTestLogger, type LoggedLine } from "../../support/runtime-kit.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Analytics of a log with one decision, whose log and codec a test may change. */
async function startOnLog() {
  const dataDir = makeDirectory();
  const gate = await openGate({ dataDir });
  await gate.propose({
    conversationId: "c",
    callId: "1",
    tool: "get_order",
    arguments: { order: 1 },
  });
  await gate.close();
  const client = openLog(dataDir);
  const { log, codec } = client;
  const parsed = configOf(
    {
      kafka: { brokers: ["127.0.0.1:1"] },
      analytics: { directory: makeDirectory(), persistMs: 1_000 },
    },
    "the test",
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { config } = parsed;
  const lines: LoggedLine[] = [];
  const start = async () => {
    const service = await startAnalytics(
      { log, codec, close: () => client.close() },
      {
        ...{ config, logger: createTestLogger(lines), metrics: createProcessMetrics("analytics") },
        ...{
          signal: new AbortController().signal,
          waitsFor: () => undefined,
          fail: (error) => expect.unreachable(String(error)),
        },
      },
    );
    onTestFinished(async () => {
      await service.close();
    });
    return service;
  };
  return { log, codec, start };
}

const passSeconds = (seconds: number) =>
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1_000 });

it("analytics that cannot read are not ready, though nothing seems to be left, until they can again", async () => {
  const { log, start } = await startOnLog();
  let isAway = false;
  let failed = 0;
  const read = log.read.bind(log);
  vi.spyOn(log, "read").mockImplementation((...args) => {
    if (!isAway) return read(...args);
    failed += 1;
    return Promise.reject(new RetryableError("log_unavailable", "nobody answers"));
  });
  const service = await start();
  await expect.poll(() => service.ready()).toMatchObject({ ok: true });
  isAway = true;
  await expect.poll(() => failed).toBeGreaterThan(log.partitions);
  passSeconds(11);
  expect(service.ready()).toMatchObject({ ok: false, detail: { unreadMs: expect.any(Number) } });
  isAway = false;
  await expect.poll(() => service.ready()).toMatchObject({ ok: true });
});

it("analytics that read what they cannot decode are not ready, until they can", async () => {
  const { codec, start } = await startOnLog();
  let isAway = true;
  let failed = 0;
  const decode = codec.decodeJournal.bind(codec);
  vi.spyOn(codec, "decodeJournal").mockImplementation((value) => {
    if (!isAway) return decode(value);
    failed += 1;
    throw new RetryableError("schema_unavailable", "the registry is away");
  });
  const service = await start();
  await expect.poll(() => failed).toBeGreaterThan(1);
  passSeconds(11);
  const before = failed;
  await expect.poll(() => failed, { timeout: 10_000 }).toBeGreaterThan(before);
  expect(service.ready()).toMatchObject({ ok: false });
  isAway = false;
  await expect.poll(() => service.ready(), { timeout: 10_000 }).toMatchObject({ ok: true });
});

it("analytics that hang while they keep what they counted are not ready, and are while it takes no longer than usual", async () => {
  const { start } = await startOnLog();
  let goOn: () => void = () => undefined;
  const hung = vi.spyOn(AlertOutbox.prototype, "prepare").mockImplementationOnce(
    () =>
      new Promise<void>((resolve) => {
        goOn = resolve;
      }),
  );
  const service = await start();
  onTestFinished(() => {
    goOn();
    vi.restoreAllMocks();
  });
  await expect.poll(() => hung.mock.calls.length, { timeout: 10_000 }).toBe(1);
  expect(service.ready()).toMatchObject({ ok: true });
  const now = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => now() + 11_000);
  const shown = (name: "unreadMs" | "unkeptMs"): number =>
    (service.ready().detail as { readonly [key in typeof name]: number })[name];
  // It reads all the same.
  await expect.poll(() => shown("unreadMs"), { timeout: 10_000 }).toBeLessThan(5_000);
  expect(service.ready()).toMatchObject({ ok: false });
  expect(shown("unkeptMs")).toBeGreaterThan(10_000);
  goOn();
  await expect
    .poll(() => service.ready(), { timeout: 10_000 })
    .toMatchObject({ ok: true, detail: { unkeptMs: 0 } });
});
