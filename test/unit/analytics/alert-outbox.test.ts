import { expect, test } from "vitest";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { AlertOutbox } from "../../../services/analytics/alert-outbox.ts";
import type { RaisedAlert } from "../../../services/analytics/fold.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";

const codec = createAvroCodec({ secrets: new Map() });

function raised(partition: number, conversationId: string): RaisedAlert {
  return {
    partition,
    alert: {
      ...{ alertId: conversationId, kind: "calls_spike", severity: "warning", tenantId: "t" },
      ...{ conversationId, agentId: null, tool: null, reason: null, decisionId: null },
      ...{ message: "many", value: 9, threshold: 3, windowMs: null, count: 1 },
      ...{ atMs: 1, resolvedAtMs: null },
    },
  };
}

/** A log that counts its appends and can fail after it has written them. */
function createLog() {
  const memory = new MemoryLog({ partitions: 2, clusterId: "c", nowMs: () => 1 });
  const appends: (readonly OutgoingRecord[])[] = [];
  const state = { fails: 0 };
  const log = {
    append: async (records: readonly OutgoingRecord[]) => {
      const appended = await memory.append(records);
      appends.push(records);
      state.fails -= 1;
      if (state.fails < 0) return appended;
      throw new RetryableError("outcome_unknown", "no answer");
    },
    read: memory.read.bind(memory),
    startOffset: memory.startOffset.bind(memory),
    endOffset: memory.endOffset.bind(memory),
  };
  return { log, appends, state };
}

async function publish(outbox: AlertOutbox): Promise<boolean> {
  await outbox.prepare();
  outbox.data();
  return await outbox.publish();
}

test("the outbox appends the alerts of several partitions one partition after the other", async () => {
  const { log, appends } = createLog();
  const outbox = new AlertOutbox(log, codec);
  for (const [partition, name] of [
    [0, "a"],
    [1, "b"],
    [0, "c"],
  ] as const) {
    outbox.add(raised(partition, name));
  }
  expect(await publish(outbox)).toBe(true);
  const partitionKeys = appends.map((records) =>
    records.map(({ partition, key }) => `${partition} ${key}`),
  );
  expect(partitionKeys).toEqual([["0 t/a", "0 t/c"], ["1 t/b"]]);
  expect(outbox.isEmpty).toBe(true);
});

test("the outbox does not write an alert again whose append succeeded but was not acknowledged", async () => {
  const { log, appends, state } = createLog();
  const outbox = new AlertOutbox(log, codec);
  outbox.add(raised(0, "a"));
  outbox.add(raised(1, "b"));
  state.fails = 1;
  await expect(publish(outbox)).rejects.toThrow("no answer");
  expect(await publish(outbox)).toBe(true);
  expect(appends.flat().map(({ key }) => key)).toEqual(["t/a", "t/b"]);
  expect(outbox.isEmpty).toBe(true);
});
