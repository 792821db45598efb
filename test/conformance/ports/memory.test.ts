import { MemoryCheckpoints } from "../../../services/adapters/memory/memory-checkpoints.ts";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { MemoryStateStore } from "../../../services/adapters/memory/memory-state-store.ts";
import { describeCheckpointContract } from "./checkpoints.contract.ts";
import {
  describeLogContract,
  describeTimedLogContract,
  type TimedLogUnderTest,
} from "./log.contract.ts";
import { describeStateContract } from "./states.contract.ts";

async function open(): Promise<TimedLogUnderTest> {
  let now = 0;
  const log = new MemoryLog({ partitions: 2, clusterId: "c", nowMs: () => now });
  return {
    log,
    ownership: log,
    setTime: (nowMs) => {
      now = nowMs;
    },
    close: () => log.close(),
  };
}

describeLogContract("in memory", open);
describeTimedLogContract("in memory", open);

describeCheckpointContract("in memory", async () => ({
  store: new MemoryCheckpoints(),
  close: async () => undefined,
}));

describeStateContract("in memory", async () => ({
  store: new MemoryStateStore(),
  close: async () => undefined,
}));
