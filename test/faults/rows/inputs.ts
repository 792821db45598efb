// Inputs as no honest producer writes them, and as honest ones do by mistake.
import { setTimeout as sleep } from "node:timers/promises";
import { connectKafka } from "../../support/kafka/test-cluster.ts";
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
  faultsMin: () => 3 * POISON.length,
  run: async ({ open, fail }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(1_000);
    for (const [index, [key, value]] of POISON.entries()) {
      for (const topic of ["proposals", "results", "verdicts"] as const) {
        await lab.load.append(topic, index % lab.partitions, key, value);
        lab.faults += 1;
      }
    }
    await lab.recover();
    await lab.stopLoad();
    await sleep(2_000);
    // Nothing comes after these: they must be decided all the same.
    for (let partition = 0; partition < lab.partitions; partition += 1) {
      await lab.load.append("results", partition, "default/x", Buffer.from("last"));
    }
    await sleep(2_000);
    if (lab.gates.some((gate) => !gate.isRunning)) fail("a gate ended");
    return lab;
  },
};

export const readAgain: Row = {
  name: "offsets set back to 0",
  about: "the group's offsets are reset while no gate runs: the journal knows better",
  inShort: false,
  faultsMin: () => 2,
  run: async ({ open, cluster }) => {
    const lab = await open();
    const gate = await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    await gate.stop();
    const admin = connectKafka(cluster.bootstrap).admin();
    await admin.connect();
    const { groups } = await admin.listGroups();
    const group = groups.find(({ groupId }) => groupId === lab.group)?.groupId ?? lab.group;
    for (const topic of [lab.names.proposals, lab.names.results]) {
      await admin.resetOffsets({ groupId: group, topic, earliest: true });
      lab.faults += 1;
    }
    await admin.disconnect();
    await lab.startGate();
    await sleep(2_000);
    return lab;
  },
};

export const backlog: Row = {
  name: "verdict before the backlog",
  about: "a hold is answered while no gate runs, behind and before proposals that wait",
  inShort: false,
  faultsMin: () => 2,
  run: async ({ open }) => {
    const lab = await open();
    const first = await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    for (let round = 0; round < 2; round += 1) {
      const gate = round === 0 ? first : lab.gates.at(-1);
      await gate?.kill();
      const struckAtMs = Date.now();
      // The load goes on: proposals, results and verdicts pile up.
      await sleep(3_000);
      await lab.startGate();
      await lab.recover(struckAtMs);
    }
    return lab;
  },
};

export const deadProducer: Row = {
  name: "a dead producer's open transaction",
  about: "somebody opens a transaction over the proposals and is never heard of again",
  inShort: false,
  faultsMin: () => 1,
  run: async ({ open, cluster }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(1_000);
    const kafka = connectKafka(cluster.bootstrap, { clientId: "dead" });
    const producer = kafka.producer({
      ...{ transactionalId: `dead-${Date.now()}`, idempotent: true, maxInFlightRequests: 1 },
      transactionTimeout: 5_000,
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
    await sleep(16_000);
    await lab.recover();
    return lab;
  },
};
