import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { querySegments } from "../../../services/adapters/duckdb/query-segments.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import {
  ANALYTICS_OPTIONS,
  Analytics,
  type AnalyticsOptions,
  DECISIONS_FOLDER,
} from "../../../services/analytics/analytics.ts";
import { DECISION_COLUMNS } from "../../../services/analytics/decision-row.ts";
import type { Sample, TotalsData } from "../../../services/analytics/totals.ts";
import { type DirectoryLog, openLog } from "../../../services/process/directory/open-log.ts";
import { openDiskLog } from "../../../services/process/directory/open-storage.ts";
import { FatalError } from "../../../services/runtime/errors.ts";
import { JOURNAL_TOPIC } from "../../../services/runtime/topics.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";
import { createTestLogger, type LoggedLine } from "../../support/runtime-kit.ts";

const CONVERSATIONS = 5;
const WAIT_MS = 120_000;

let opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  opened = [];
});

/** Five conversations of a read, its repeat, a charge with a cost, its repeat and a deletion. */
async function makeTraffic(dataDir: string, prefix = "c"): Promise<void> {
  const gate = await openGate({ dataDir });
  for (let number = 0; number < CONVERSATIONS; number += 1) {
    const conversationId = `${prefix}${number}`;
    const propose = (callId: string, tool: string, order: number) =>
      gate.propose({ conversationId, callId, step: callId, tool, arguments: { order } });
    const read = await propose("1", "get_order", 7);
    await gate.report(read.decisionId ?? "", { status: "succeeded", output: "seven" });
    await propose("2", "get_order", 7);
    const charge = await propose("3", "charge_card", 7);
    const cost = { microUnits: 2_500_000, currency: "USD" };
    await gate.report(charge.decisionId ?? "", { status: "succeeded", output: "ok", cost });
    await propose("4", "charge_card", 7);
    await propose("5", "delete_order", 7);
  }
  await gate.close();
}

type Opened = { readonly analytics: Analytics; readonly lines: LoggedLine[] };

async function open(
  client: DirectoryLog,
  directory: string,
  options: Partial<AnalyticsOptions> = {},
): Promise<Opened> {
  const lines: LoggedLine[] = [];
  const analytics = await Analytics.open({
    ...{ log: client.log, codec: client.codec, clock: systemClock, directory },
    logger: createTestLogger(lines),
    options: { persistMs: 20, ...options },
    fail: (error) => lines.push({ level: "error", message: String(error), fields: {} }),
  });
  analytics.start();
  return { analytics, lines };
}

function openClient(dataDir: string): DirectoryLog {
  const client = openLog(dataDir);
  opened.push(() => client.close());
  return client;
}

async function readToEnd({ analytics }: Opened, client: DirectoryLog): Promise<void> {
  const deadlineMs = Date.now() + WAIT_MS;
  const end = await client.log.endOffset(JOURNAL_TOPIC, 0);
  while (analytics.lags.length === 0 || analytics.lags.some((lag) => lag.nextOffset < end)) {
    if (Date.now() > deadlineMs) throw new Error(`not read: ${JSON.stringify(analytics.lags)}`);
    await systemClock.sleep(5);
  }
}

function sampleOf(totals: TotalsData, name: keyof TotalsData, labels: object): number | undefined {
  const samples: readonly Sample[] = totals[name] ?? [];
  return samples.find((sample) =>
    Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value;
}

async function counts(directory: string): Promise<readonly unknown[]> {
  const sql = "SELECT kind, count(*)::INTEGER FROM decisions GROUP BY kind ORDER BY kind";
  return (await querySegments(join(directory, DECISIONS_FOLDER), DECISION_COLUMNS, sql)).rows;
}

const ROWS_BY_KIND = [
  ["allowed", 2 * CONVERSATIONS],
  ["held", CONVERSATIONS],
  ["refused", 2 * CONVERSATIONS],
  ["result", 2 * CONVERSATIONS],
];

describe("analytics of a log", () => {
  it("counts decisions, repeats, results and spend, and keeps every event as a row", async () => {
    const dataDir = makeDirectory();
    await makeTraffic(dataDir);
    const client = openClient(dataDir);
    const directory = makeDirectory();

    const running = await open(client, directory);
    await readToEnd(running, client);
    await running.analytics.close();

    const { totals } = running.analytics;
    const refused = { outcome: "refused", reason: "duplicate_call" };
    expect(sampleOf(totals, "analytics_decisions_total", { ...refused, tool: "get_order" })).toBe(
      5,
    );
    expect(sampleOf(totals, "analytics_decisions_total", { outcome: "held" })).toBe(5);
    expect(sampleOf(totals, "repeats_stopped_total", { tool: "charge_card" })).toBe(5);
    expect(sampleOf(totals, "spend_total", { currency: "USD", tool: "charge_card" })).toBe(12.5);
    expect(await counts(directory)).toEqual(ROWS_BY_KIND);
    expect(running.analytics.openConversations).toBe(CONVERSATIONS);
    expect(running.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it.each([
    ["files", { persistMs: WAIT_MS, segmentMs: 0 }],
    ["state", { persistMs: 0 }],
  ])("writes no more %s, and ends, once another one has its directory", async (_, options) => {
    const dataDir = makeDirectory();
    // The analytics begin before a gate does.
    await openDiskLog(dataDir, systemClock).close();
    const client = openClient(dataDir);
    const directory = makeDirectory();
    const running = await open(client, directory, options);
    await readToEnd(running, client);
    const path = join(directory, "analytics.lock");
    const holder = { ...JSON.parse(readFileSync(path, "utf8")), nonce: "of another one" };
    writeFileSync(path, JSON.stringify(holder));

    await makeTraffic(dataDir);
    const deadlineMs = Date.now() + WAIT_MS;
    while (running.lines.length === 0 && Date.now() < deadlineMs) await systemClock.sleep(5);
    expect(running.lines[0]?.message).toContain("is in use by the analytics of process");
    await expect(running.analytics.close()).rejects.toThrow(FatalError);
    expect(readdirSync(directory).sort()).toEqual(["analytics.lock", DECISIONS_FOLDER]);
    expect(readdirSync(join(directory, DECISIONS_FOLDER, "partition-0"))).toEqual([]);
  });

  it("goes on after a restart where it was, and counts nothing twice", async () => {
    const dataDir = makeDirectory();
    await makeTraffic(dataDir);
    const client = openClient(dataDir);
    const directory = makeDirectory();
    const first = await open(client, directory);
    await readToEnd(first, client);
    await first.analytics.close();
    await makeTraffic(dataDir, "d");

    const second = await open(client, directory);
    await readToEnd(second, client);
    await second.analytics.close();

    expect(
      sampleOf(second.analytics.totals, "repeats_stopped_total", { tool: "charge_card" }),
    ).toBe(2 * CONVERSATIONS);
    expect(await counts(directory)).toEqual(
      ROWS_BY_KIND.map(([kind, count]) => [kind, 2 * Number(count)]),
    );
  });

  it("reads again what was in memory alone when it was killed", async () => {
    const dataDir = makeDirectory();
    await makeTraffic(dataDir);
    const client = openClient(dataDir);
    const directory = makeDirectory();
    const script = new URL("../../support/run-analytics.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, ["--import", "tsx", script, dataDir, directory]);
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`ended before it had read: ${code}`)));
    });
    child.removeAllListeners("exit");
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;

    const after = await open(client, directory);
    await readToEnd(after, client);
    await after.analytics.close();

    expect(sampleOf(after.analytics.totals, "analytics_decisions_total", { outcome: "held" })).toBe(
      CONVERSATIONS,
    );
    expect(await counts(directory)).toEqual(ROWS_BY_KIND);
  });

  it("raises one alert for a conversation that spikes, also over a restart", async () => {
    const dataDir = makeDirectory();
    await makeTraffic(dataDir);
    const client = openClient(dataDir);
    const directory = makeDirectory();
    const spikes = {
      ...ANALYTICS_OPTIONS.fold.spikes,
      conversationsMin: 3,
      floor: { calls: 1_000, spend: 4, duration: 1e12 },
    };
    const fold = { ...ANALYTICS_OPTIONS.fold, idleMs: 0, spikes };
    const first = await open(client, directory, { fold });
    await readToEnd(first, client);
    await first.analytics.close();
    const gate = await openGate({ dataDir });
    const { decisionId = "" } = await gate.propose({
      ...{ conversationId: "dear", callId: "1", tool: "charge_card", arguments: { order: 1 } },
    });
    const cost = { microUnits: 90_000_000, currency: "USD" };
    await gate.report(decisionId, { status: "succeeded", output: "ok", cost });
    await gate.close();

    for (let run = 0; run < 2; run += 1) {
      const again = await open(client, directory, { fold: { ...fold, idleMs: 3_600_000 } });
      await readToEnd(again, client);
      await again.analytics.close();
    }

    const partition = first.analytics.lags[0]?.partition ?? 0;
    const limits = { recordsMax: 100, bytesMax: 1_000_000 };
    const { records } = await client.log.read("alerts", partition, 0, limits);
    const alerts = records.map(({ value }) => client.codec.decodeAlert(value ?? new Uint8Array()));
    expect(alerts).toMatchObject([
      {
        kind: "spend_spike",
        conversationId: "dear",
        value: 90,
        threshold: 4,
        severity: "critical",
      },
    ]);
  });

  it("merges small files without losing or doubling a row", async () => {
    const dataDir = makeDirectory();
    await makeTraffic(dataDir);
    const client = openClient(dataDir);
    const directory = makeDirectory();
    for (let round = 0; round < 34; round += 1) {
      const gate = await openGate({ dataDir });
      await gate.propose({
        conversationId: "m",
        callId: `m${round}`,
        tool: "get_order",
        arguments: { order: round },
      });
      await gate.close();
      const one = await open(client, directory);
      await readToEnd(one, client);
      await one.analytics.close();
    }

    const files = readdirSync(join(directory, DECISIONS_FOLDER, "partition-0"));
    expect(files.length).toBeLessThan(10);
    const allowed = (await counts(directory)) as [string, number][];
    expect(Object.fromEntries(allowed)).toMatchObject({ allowed: 2 * CONVERSATIONS + 34 });
  });

  it("refuses a directory that another process writes, or that is another log's", async () => {
    const dataDir = makeDirectory();
    await makeTraffic(dataDir);
    const client = openClient(dataDir);
    const directory = makeDirectory();
    const running = await open(client, directory);
    await readToEnd(running, client);
    await running.analytics.close();
    const otherDir = makeDirectory();
    await makeTraffic(otherDir);
    const other = openClient(otherDir);

    await expect(open(other, directory)).rejects.toThrow(FatalError);
    await expect(open(other, directory)).rejects.toThrow("holds the analytics of another log");
  });
});
