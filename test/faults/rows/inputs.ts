// Inputs that only a hostile producer writes, and inputs that honest ones write by mistake.
import { setTimeout as sleep } from "node:timers/promises";
import { INPUT_TOPICS, type InputTopic } from "../../../services/runtime/topics.ts";
import { connectKafka } from "../../support/kafka/test-cluster.ts";
import type { Lab } from "../lab/lab.ts";
import type { Row } from "../lab/row.ts";

const MEGABYTE = 1_000_000;

const POISON: readonly (readonly [key: string | null, value: Buffer | null])[] = [
  ["default/x", null],
  ["default/x", Buffer.alloc(0)],
  [null, Buffer.from('{"conversationId":"x"}')],
  ["default/x", Buffer.from('{"broken')],
  ["default/x", Buffer.from("\u0000\u0000\u0000\u0000\u0000")],
  ["default/x", Buffer.from([0xc3, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 9])],
  ["default/x", Buffer.from([0, 0, 0, 0, 99, 1, 2, 3])],
  ["default/x", Buffer.alloc(MEGABYTE - 2_000, 0x7b)],
  ["default/x", Buffer.from('{"conversationId":5,"callId":"1","tool":"get_item"}')],
  [
    "default/x",
    Buffer.from('{"conversationId":"x","callId":"1","tool":"get_item","arguments":"{}","more":1}'),
  ],
  [
    "elsewhere",
    Buffer.from(
      '{"tenantId":"default","conversationId":"x","callId":"1","tool":"get_item","arguments":"{}"}',
    ),
  ],
];

export const poison: Row = {
  name: "poison records",
  about: "of every kind, in all inputs, last on their partition too",
  inShort: true,
  // Poison is also the last record of each topic.
  faultsMin: () => INPUT_TOPICS.length * (POISON.length + 1),
  run: async ({ open, fail }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(1_000);
    for (const [index, [key, value]] of POISON.entries()) {
      for (const topic of INPUT_TOPICS) {
        await lab.load.append(topic, index % lab.partitions, key, value);
        lab.struckOnce();
      }
    }
    await lab.decidesAgain(Date.now());
    // No result and no tick follows either.
    await lab.rest();
    for (const topic of INPUT_TOPICS) {
      for (const problem of await appendLast(lab, topic)) fail(problem);
      lab.struckOnce();
    }
    if (lab.gates.some((gate) => !gate.isRunning)) fail("a gate ended");
    return lab;
  },
};

/** The last records of their partitions, which must be decided all the same. */
async function appendLast(lab: Lab, topic: InputTopic): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let partition = 0; partition < lab.partitions; partition += 1) {
    const offset = await lab.load.append(topic, partition, "default/x", Buffer.from("last"));
    await sleep(500);
    const end = await lab.log.endOffset(topic, partition);
    if (end !== offset + 1) problems.push(`void: ${topic} ${partition} goes on to ${end}`);
  }
  return problems;
}

export const readAgain: Row = {
  name: "offsets set back to 0",
  about: "of all inputs, while no gate runs: the journal knows better",
  inShort: false,
  faultsMin: () => INPUT_TOPICS.length,
  run: async ({ open, cluster }) => {
    // The checker looks after they have been read again.
    const lab = await open({ checkAfterFaults: INPUT_TOPICS.length + 1 });
    const gate = await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    // The gate decides until it has ended.
    await gate.stop();
    const struckAtMs = Date.now();
    const admin = connectKafka(cluster.bootstrap).admin();
    await admin.connect();
    for (const topic of INPUT_TOPICS) {
      const groupTopic = { groupId: lab.group, topic: lab.names[topic] };
      await admin.resetOffsets({ ...groupTopic, earliest: true });
      lab.struckOnce();
    }
    await admin.disconnect();
    await lab.startGate();
    await lab.decidesAgain(struckAtMs);
    return lab;
  },
};

const TRANSACTION_MS = 5_000;

export const deadProducer: Row = {
  name: "a dead producer's open transaction",
  about: "somebody opens a transaction over the proposals and is never heard of again",
  inShort: false,
  faultsMin: () => 1,
  run: async ({ open, cluster, fail }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(1_000);
    const kafka = connectKafka(cluster.bootstrap, { clientId: "dead" });
    const producer = kafka.producer({
      ...{ transactionalId: `dead-${Date.now()}`, idempotent: true, maxInFlightRequests: 1 },
      transactionTimeout: TRANSACTION_MS,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    for (let partition = 0; partition < lab.partitions; partition += 1) {
      const messages = [{ key: "default/x", value: '{"broken', partition }];
      await transaction.send({ topic: lab.names.proposals, messages });
    }
    const struckAtMs = Date.now();
    await producer.disconnect();
    await lab.recover(struckAtMs);
    if ((lab.worstGapMs ?? 0) < TRANSACTION_MS / 2) fail("void: it held up nobody");
    return lab;
  },
};
