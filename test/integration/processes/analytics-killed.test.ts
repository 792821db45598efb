// The analytics of a cluster, killed at the worst moments: they neither lose nor duplicate what
// they count, store and report.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { querySegments } from "../../../services/adapters/duckdb/query-segments.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { DECISIONS_FOLDER } from "../../../services/analytics/analytics.ts";
import { DECISION_COLUMNS } from "../../../services/analytics/decision-row.ts";
import type { Callgate } from "../../../services/library/callgate.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { openTestLog, readAll } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";
import type { RunningProcess } from "../../support/processes/running-process.ts";
import { runCallgate } from "../../support/run-callgate.ts";

const kafka = await kafkaBackend();

const POLICY = "tool_schemas: {pay: {}}\n";
const PARTITIONS = 2;
/** The minimum number of values for a baseline. */
const USUAL = 30;
/** Enough that every partition has some. */
const OTHERS = 4;
const HOUR_MS = 3_600_000;
const codec = createAvroCodec({ secrets: new Map() });

/** One payment, paid, at a price; and the same again, which is refused. */
async function pay(callgate: Callgate, conversationId: string, price: number): Promise<void> {
  const call = { conversationId, tool: "pay", arguments: { order: "7" } };
  const { decisionId = "" } = await callgate.propose({ ...call, step: 1, callId: "a" });
  const cost = { microUnits: price * 1_000_000, currency: "USD" };
  await callgate.report(decisionId, { status: "succeeded", output: "paid", cost });
  const again = await callgate.propose({ ...call, step: 2, callId: "b" });
  expect(again.outcome).toBe("refused");
}

/** All decoded records of a topic. */
async function readTopic<T>(
  names: TopicNames,
  topic: Topic,
  decode: (value: Uint8Array) => T,
): Promise<readonly T[]> {
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  const all: T[] = [];
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    for (const { value } of await readAll(log, topic, partition)) {
      all.push(decode(value ?? new Uint8Array()));
    }
  }
  return all;
}

/** The counts according to the journal, by the kinds of the analytics' rows. */
async function countJournal(names: TopicNames): Promise<Readonly<Record<string, number>>> {
  const records = await readTopic(names, "decisions", (value) => codec.decodeJournal(value));
  const counts: Record<string, number> = {};
  for (const { type } of records.flatMap(({ events }) => events)) {
    const kind = type === "result_recorded" ? "result" : type;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** The value of a metric; the sum over its labels. */
async function numberOf(running: RunningProcess, name: string): Promise<number> {
  const text = await (await running.get("/metrics")).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`callgate_${name}`));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

describe.skipIf(!kafka.available)("analytics that are killed while they publish an alert", () => {
  test("count each decision once, store it once, and raise one alert per conversation that spikes", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: PARTITIONS });
    const names = kit.config.kafka.topics;
    const proxy = await KafkaProxy.start(kafka.brokers);
    onTestFinished(() => proxy.close());
    const behindProxy = { kafka: { ...kit.config.kafka, brokers: proxy.brokers } };
    /**
     * From now on alerts are written but not acknowledged to the analytics, which therefore write
     * no state.
     */
    const muteAlerts = () => {
      const deed = { type: "swallow" } as const;
      return proxy.arm({ api: "Produce", deed, times: Number.POSITIVE_INFINITY }).struck;
    };
    const directory = makeDirectory();
    const settings = { directory, idleMs: HOUR_MS, persistMs: 100, segmentMs: 300 };
    const readState = () => JSON.parse(readFileSync(join(directory, "analytics.json"), "utf8"));
    const outboxOf = (conversationId: string) =>
      expect.arrayContaining([
        expect.objectContaining({ alert: expect.objectContaining({ conversationId }) }),
      ]);
    const gate = kit.startGate(POLICY);
    const first = kit.startAnalytics({
      ...behindProxy,
      analytics: { ...settings, idleMs: 1_000, segmentMs: HOUR_MS },
    });
    const callgate = await kit.connect();
    const payMany = (name: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, at) => pay(callgate, `${name}${at}`, 2)));
    await Promise.all([gate.ready(), first.ready()]);
    await payMany("usual", USUAL);
    // These conversations end, and form the baseline from then on.
    const learned = async () => [
      await numberOf(first, "spend_total"),
      await numberOf(first, "conversations_open"),
    ];
    await expect.poll(learned).toEqual([2 * USUAL, 0]);
    let struck = muteAlerts();
    await pay(callgate, "dear", 90);
    await struck;
    first.child.kill("SIGKILL");
    await first.ended;
    // The state is ahead of the files, which do not exist yet.
    expect(readState().outbox).toEqual(outboxOf("dear"));
    await payMany("early", OTHERS);
    proxy.disarm();

    const second = kit.startAnalytics({ ...behindProxy, analytics: settings });
    const untilCounted = async (one: RunningProcess, conversations: number) => {
      const allowed = () => numberOf(one, 'analytics_decisions_total{outcome="allowed"');
      await expect.poll(allowed).toBeGreaterThanOrEqual(conversations);
      expect(await allowed()).toBe(conversations);
    };
    await untilCounted(second, USUAL + 1 + OTHERS);
    await expect.poll(() => readState().outbox).toEqual([]);
    struck = muteAlerts();
    await pay(callgate, "dearer", 95);
    await struck;
    // These are in files, and not in the state.
    await payMany("late", OTHERS);
    const countStored = async () => {
      const sql = "SELECT count(*)::INTEGER FROM decisions WHERE conversation_id LIKE 'late%'";
      const folder = join(directory, DECISIONS_FOLDER);
      return (await querySegments(folder, DECISION_COLUMNS, sql)).rows[0]?.[0];
    };
    await expect.poll(countStored).toBe(3 * OTHERS);
    // This is in neither.
    await pay(callgate, "last", 2);
    second.child.kill("SIGKILL");
    await second.ended;
    expect(readState().outbox).toEqual(outboxOf("dearer"));

    const third = kit.startAnalytics({ analytics: settings });
    const conversations = USUAL + 2 * OTHERS + 3;
    await untilCounted(third, conversations);
    await expect.poll(() => readState().outbox).toEqual([]);
    expect(await numberOf(third, "analytics_decisions_total")).toBe(2 * conversations);
    expect(await numberOf(third, "call_results_total")).toBe(conversations);
    expect(await numberOf(third, "spend_total")).toBe(2 * (conversations - 2) + 90 + 95);
    expect(await numberOf(third, 'alerts_total{kind="spend_spike",severity="critical"')).toBe(2);
    third.child.kill("SIGTERM");
    expect(await third.ended).toEqual({ code: 0, signal: null });

    const sql =
      "SELECT kind, count(*)::INTEGER AS calls FROM decisions GROUP BY kind ORDER BY kind";
    const asked = await runCallgate(["analytics", "query", sql, "--dir", directory, "--json"]);
    expect(asked.code, asked.stderr).toBe(0);
    const rows = JSON.parse(asked.stdout) as readonly { kind: string; calls: number }[];
    const counted = Object.fromEntries(rows.map(({ kind, calls }) => [kind, calls]));
    expect(counted).toEqual({
      ...{ allowed: conversations, refused: conversations, result: conversations },
    });
    expect(counted).toEqual(await countJournal(names));
    const alerts = await readTopic(names, "alerts", (value) => codec.decodeAlert(value));
    // On a slow machine, the end of a conversation may have been reported as well.
    const raised = alerts.filter(({ resolvedAtMs }) => resolvedAtMs === null);
    const raisedFields = raised.map(({ kind, conversationId, value }) => [
      kind,
      conversationId,
      value,
    ]);
    expect(raisedFields.toSorted()).toEqual([
      ["spend_spike", "dear", 90],
      ["spend_spike", "dearer", 95],
    ]);
  });
});
