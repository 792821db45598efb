import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { configOf } from "../../../services/adapters/config/load-config.ts";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { startAnalytics } from "../../../services/cli/analytics/analytics-service.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import { openEmbeddedClient } from "../../../services/sdk/open-embedded.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";
import { createTestLogger, type LoggedLine } from "../../support/runtime-kit.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("analytics that cannot read are not ready, though nothing seems to be left, until they can again", async () => {
  const dataDir = makeDirectory();
  const gate = await openGate({ dataDir });
  await gate.propose({
    conversationId: "c",
    callId: "1",
    tool: "get_order",
    arguments: { order: 1 },
  });
  await gate.close();
  const client = openEmbeddedClient(dataDir);
  let isAway = false;
  let failed = 0;
  const { log, codec } = client;
  const read = log.read.bind(log);
  vi.spyOn(log, "read").mockImplementation((...args) => {
    if (!isAway) return read(...args);
    failed += 1;
    return Promise.reject(new RetryableError("log_unavailable", "nobody answers"));
  });
  const given = configOf(
    { kafka: { brokers: ["127.0.0.1:1"] }, analytics: { directory: makeDirectory() } },
    "the test",
  );
  if (!given.ok) throw new Error(JSON.stringify(given.problems));
  const { config } = given;
  const lines: LoggedLine[] = [];
  const service = await startAnalytics(
    { log, codec, close: () => client.close() },
    {
      ...{ config, logger: createTestLogger(lines), metrics: createProcessMetrics("analytics") },
      ...{
        signal: new AbortController().signal,
        fail: (error) => expect.unreachable(String(error)),
      },
    },
  );
  onTestFinished(async () => {
    await service.close();
  });
  await expect.poll(() => service.ready()).toMatchObject({ ok: true });
  isAway = true;
  await expect.poll(() => failed).toBeGreaterThan(log.partitions);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11_000 });
  expect(service.ready()).toMatchObject({ ok: false, detail: { unreadMs: expect.any(Number) } });
  isAway = false;
  await expect.poll(() => service.ready()).toMatchObject({ ok: true });
});
