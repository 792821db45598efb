// Conversations that come to rest while nothing more is journaled.
import { afterEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { ANALYTICS_OPTIONS, Analytics } from "../../../services/analytics/analytics.ts";
import type { Callgate } from "../../../services/library/callgate.ts";
import { openLog } from "../../../services/process/directory/open-log.ts";
import { JOURNAL_TOPIC } from "../../../services/runtime/topics.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";
import { createTestLogger } from "../../support/runtime-kit.ts";

const IDLE_MS = 60_000;
const POLL = { timeout: 10_000 };
const spikes = {
  ...ANALYTICS_OPTIONS.fold.spikes,
  ...{ conversationsMin: 3, floor: { calls: 4, spend: 1, duration: 1e12 } },
};

let opened: (() => Promise<void>)[] = [];

async function closeAll(): Promise<void> {
  const closes = opened.reverse();
  opened = [];
  for (const close of closes) await close();
}
afterEach(closeAll);

async function calls(gate: Callgate, conversationId: string, count: number): Promise<void> {
  for (let call = 0; call < count; call += 1) {
    const proposed = { callId: `${call}`, tool: "get_order", arguments: { order: call } };
    await gate.propose({ conversationId, ...proposed });
  }
}

/** Conversations that came to rest. */
function rested({ totals }: Analytics): number {
  const buckets = totals.conversation_tool_calls?.[0]?.buckets ?? [];
  return buckets.reduce((sum, count) => sum + count, 0);
}

/** Analytics that read one record of the journal at a time. @param clock whose time a test may change. */
async function analyticsOf(dataDir: string, directory: string, clock: { atMs: number }) {
  const client = openLog(dataDir);
  opened.push(() => client.close());
  const { log } = client;
  const read = log.read.bind(log);
  vi.spyOn(log, "read").mockImplementation((topic, partition, offset, limits) =>
    read(topic, partition, offset, topic === JOURNAL_TOPIC ? { ...limits, recordsMax: 1 } : limits),
  );
  const analytics = await Analytics.open({
    ...{ log, codec: client.codec, directory, logger: createTestLogger([]) },
    clock: { ...systemClock, nowMs: () => clock.atMs },
    options: { persistMs: 20, fold: { ...ANALYTICS_OPTIONS.fold, idleMs: IDLE_MS, spikes } },
    fail: (error) => expect.unreachable(String(error)),
  });
  opened.push(() => analytics.close());
  analytics.start();
  return { client, analytics };
}

it("has the alerts resolved of one that came to rest by the time of day", async () => {
  const [dataDir, directory] = [makeDirectory(), makeDirectory()];
  const gate = await openGate({ dataDir });
  for (const name of ["a", "b", "c"]) await calls(gate, name, 1);
  await gate.close();
  const startMs = Date.now();
  const before = await analyticsOf(dataDir, directory, { atMs: startMs + 3 * IDLE_MS });
  await expect.poll(() => rested(before.analytics), POLL).toBe(3);
  await closeAll();
  const again = await openGate({ dataDir });
  await calls(again, "runaway", 9);
  await again.close();

  const clock = { atMs: startMs };
  const { client } = await analyticsOf(dataDir, directory, clock);
  const alerts = async () => {
    const limits = { recordsMax: 100, bytesMax: 1_000_000 };
    const { records } = await client.log.read("alerts", 0, 0, limits);
    const decodedAlerts = records.map(({ value }) =>
      client.codec.decodeAlert(value ?? new Uint8Array()),
    );
    return decodedAlerts.map(({ kind, severity }) => `${kind} ${severity}`);
  };
  await expect.poll(alerts, POLL).toEqual(["calls_spike warning"]);
  clock.atMs += 3 * IDLE_MS;
  await expect.poll(alerts, POLL).toEqual(["calls_spike warning", "calls_spike info"]);
});

it("lets none come to rest whose next calls are in the journal, unread", async () => {
  const [dataDir, directory] = [makeDirectory(), makeDirectory()];
  const gate = await openGate({ dataDir });
  await calls(gate, "long", 3);
  await gate.close();
  const clock = { atMs: Date.now() + 3 * IDLE_MS };
  const { analytics } = await analyticsOf(dataDir, directory, clock);

  await expect
    .poll(() => analytics.lags.every((lag) => lag.nextOffset === lag.endOffset), POLL)
    .toBe(true);
  await expect.poll(() => rested(analytics), POLL).toBe(1);
  expect(analytics.totals.conversation_tool_calls?.[0]?.value).toBe(3);
});
