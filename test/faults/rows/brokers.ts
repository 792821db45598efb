// Brokers that die and come back, alone and one after the other.
import { setTimeout as sleep } from "node:timers/promises";
import { startKafka } from "../../../infra/local/start-kafka.js";
import type { Row } from "../lab/row.ts";

const BROKERS = 3;

export const brokerKilled: Row = {
  name: "broker kill -9",
  about: "the only broker dies under load and is started again on its data",
  inShort: false,
  faultsMin: (short) => (short ? 1 : 4),
  run: async ({ open, short, cluster }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    for (let round = 0; round < (short ? 1 : 4); round += 1) {
      const broker = cluster.brokers[0];
      broker?.kill("SIGKILL");
      await broker?.waitForExit();
      await broker?.restart();
      await lab.recover(Date.now());
      await sleep(2_000);
    }
    return lab;
  },
};

export const brokersBounced: Row = {
  name: "three brokers bounced",
  about: "one after the other under load, leaders moving to those that are left",
  inShort: false,
  faultsMin: () => BROKERS,
  run: async ({ open, onEnd, version, cluster: { classes } }) => {
    const kafka = await startKafka({
      ...version,
      brokers: BROKERS,
      properties: {
        "log.message.timestamp.type": "LogAppendTime",
        "transaction.state.log.min.isr": 2,
        "min.insync.replicas": 2,
      },
    });
    onEnd(() => kafka.stop());
    const { bootstrap, libs, brokers } = kafka;
    const cluster = { bootstrap, libs, brokers, classes };
    // Connects around the proxy, which accepts connections for a dead broker.
    const lab = await open({ cluster, replicas: BROKERS, kafka: { brokers: [...bootstrap] } });
    await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    for (const broker of kafka.brokers) {
      const struckAtMs = Date.now();
      broker.kill("SIGKILL");
      await broker.waitForExit();
      await lab.recover(struckAtMs);
      await broker.restart();
      await sleep(2_000);
    }
    return lab;
  },
};
