// The requests of an owner's transaction, their order, and how long they are retried.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { FatalError } from "../../../services/runtime/errors.ts";
import type { CommitOutcome, OutgoingRecord } from "../../../services/runtime/ports.ts";
import { oneBroker } from "../../support/backends/one-broker.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { loadWithout } from "../../support/edited-copy/gates-without.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  propose,
  untilDecided,
} from "../../support/kafka/test-gate.ts";
import { ownAlone } from "../../support/kafka/test-ownership.ts";
import { commitFirst } from "../../support/kafka/two-leaders.ts";
import {
  GROUP_LOAD_IN_PROGRESS,
  INVALID_REQUEST,
  NOT_COORDINATOR,
  refuseProducerId,
  refuseStep,
} from "../../support/kafka-proxy/answers.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await oneBroker();
const TRANSACTION_TIMEOUT_MS = 8_000;
const TRIES = 4;
/** Many times the duration of a request. */
const MEANWHILE_MS = 300;
/** Much longer than a few retries, and shorter than the restart of a broker. */
const AWAY_MS = 3_000;
/** One broker coordinates, the other leads all partitions, so no request waits for another's answer. */
const CAST = { nodes: [11, 12], leader: () => 12 };

const record = (topic: OutgoingRecord["topic"], value: string): OutgoingRecord => ({
  ...{ topic, partition: 0, key: null },
  value: Buffer.from(value),
});
const BATCH = {
  records: [record("decisions", "d"), record("allowed", "a")],
  consumed: { proposals: 1, results: 0, verdicts: 0 },
};

async function ownBehind(own = ownAlone) {
  const names = await makeTopics(kafka.brokers);
  const proxy = await KafkaProxy.start(kafka.brokers, CAST);
  onTestFinished(() => proxy.close());
  const transactionTimeoutMs = TRANSACTION_TIMEOUT_MS;
  const ownership = own(proxy.brokers, names, { transactionTimeoutMs });
  onTestFinished(() => ownership.close());
  return { proxy, ownership };
}

async function writerBehind(own = ownAlone) {
  const { proxy, ownership } = await ownBehind(own);
  const writer = await commitFirst(ownership);
  onTestFinished(() => writer.close());
  let release = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  /** The broker has written; its answer arrives when the test releases it. */
  const holdProduce = () => proxy.arm({ api: "Produce", deed: { type: "hold", until } });
  return { proxy, writer, holdProduce, release: () => release() };
}

/** The fewest requests of one of several commits, since brokers may refuse one, which is then repeated. */
async function sendsOf(own = ownAlone): Promise<number> {
  const sends: number[] = [];
  while (sends.length < TRIES && !sends.includes(1)) {
    const { proxy, writer } = await writerBehind(own);
    const before = proxy.seen("Produce");
    await writer.commit(BATCH);
    sends.push(proxy.seen("Produce") - before);
  }
  return Math.min(...sends);
}

/** Repeats `work` until it is committed, since brokers may refuse a transaction for reasons of their own. */
async function untilCommitted(attempt: () => Promise<CommitOutcome>): Promise<void> {
  const outcomes: string[] = [];
  while (outcomes.length < TRIES && outcomes.at(-1) !== "committed") {
    outcomes.push((await attempt()).type);
  }
  expect(outcomes.at(-1)).toBe("committed");
}

describe.skipIf(!kafka.available)(`a transaction on a real broker ${kafka.reason}`, () => {
  it("sends the records of all topics at once, and several times without its guard (KAFKA-6)", async () => {
    expect(await sendsOf()).toBe(1);
    type Owns = { readonly ownAlone: typeof ownAlone };
    const copy = await loadWithout<Owns>("oneSend", "test-ownership.ts");
    expect(await sendsOf(copy.ownAlone)).toBeGreaterThanOrEqual(2);
  });

  it("is the only one of its writer (KAFKA-6)", async () => {
    const { writer, holdProduce, release } = await writerBehind();
    const { struck } = holdProduce();
    const first = writer.commit(BATCH);
    await struck;
    await expect(writer.commit(BATCH)).rejects.toThrow(FatalError);
    release();
    await first;
  });

  it("records its offsets while its records are sent, and ends after both (KAFKA-8)", async () => {
    await untilCommitted(async () => {
      const { proxy, writer, holdProduce, release } = await writerBehind();
      holdProduce();
      const { struck } = proxy.arm({ api: "TxnOffsetCommit", deed: { type: "pass" } });
      const ends = proxy.seen("EndTxn");
      const outcome = writer.commit(BATCH);
      await Promise.race([struck, outcome]);
      await sleep(MEANWHILE_MS);
      expect(proxy.seen("EndTxn")).toBe(ends);
      release();
      return outcome;
    });
  });

  it("repeats a request for offsets that had no effect, and no other request (KAFKA-8)", async () => {
    const commitRefused = async (code: number): Promise<CommitOutcome> => {
      const { proxy, writer } = await writerBehind();
      const make = (): Buffer => refuseStep(code);
      proxy.arm({ api: "AddOffsetsToTxn", times: 3, deed: { type: "answer", make } });
      return writer.commit(BATCH);
    };
    await untilCommitted(() => commitRefused(NOT_COORDINATOR));
    expect((await commitRefused(INVALID_REQUEST)).type).toBe("failed");
  });

  it("ends before it exceeds a topic's limit (KAFKA-10)", async () => {
    const names = await makeTopics(kafka.brokers, {
      partitions: 1,
      config: { ...JOURNAL_RETENTION, "max.message.bytes": "20000" },
    });
    const log = await openTestLog(kafka.brokers, names);
    onTestFinished(() => log.close());
    for (let from = 0; from < 200; from += 10) await propose(log, from, 10);
    const counts = new Map<string, number>();
    const gate = await openTestGate(kafka.brokers, names, { group: uniqueName("gates"), counts });
    onTestFinished(() => gate.stop());
    await gate.host.start();
    const { byCall, problems } = await untilDecided(log, 200);
    expect(problems).toEqual([]);
    expect(byCall.size).toBe(200);
    expect(counts.get("dead_letters") ?? 0).toBe(0);
    // Records of a batch that is too large are retried one by one.
    expect(counts.get("commits")).toBeLessThan(100);
  });
});

describe.skipIf(!kafka.available)(`a take-over on a real broker ${kafka.reason}`, () => {
  it("is retried for as long as a coordinator takes to come back (KAFKA-11)", async () => {
    const { proxy, ownership } = await ownBehind();
    await (await commitFirst(ownership)).close();
    const make = (): Buffer => refuseProducerId(GROUP_LOAD_IN_PROGRESS);
    const { struck } = proxy.arm({
      api: "InitProducerId",
      times: Number.POSITIVE_INFINITY,
      deed: { type: "answer", make },
    });
    const taken = ownership.takeOver(0);
    await struck;
    await sleep(AWAY_MS);
    proxy.disarm();
    await (await taken).close();
  });
});
