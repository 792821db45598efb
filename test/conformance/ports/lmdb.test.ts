import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Environment } from "../../../services/adapters/lmdb/environment.ts";
import { acquireGateRole } from "../../../services/adapters/lmdb/gate-role.ts";
import { LmdbCheckpoints } from "../../../services/adapters/lmdb/lmdb-checkpoints.ts";
import { LmdbLog } from "../../../services/adapters/lmdb/lmdb-log.ts";
import { type CheckpointsUnderTest, describeCheckpointContract } from "./checkpoints.contract.ts";
import {
  describeLogContract,
  describeTimedLogContract,
  type TimedLogUnderTest,
} from "./log.contract.ts";

function temporary(): { readonly dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(join(tmpdir(), "callgate-lmdb-"));
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) };
}

async function open(): Promise<TimedLogUnderTest> {
  const { dataDir, remove } = temporary();
  let now = 0;
  const environment = new Environment({ dataDir, partitions: 2, newId: () => "c" });
  const log = new LmdbLog(environment, () => now);
  const ownership = acquireGateRole(environment, log, dataDir);
  return {
    log,
    ownership,
    setTime: (nowMs) => {
      now = nowMs;
    },
    close: async () => {
      ownership.release();
      await log.close();
      remove();
    },
  };
}

describeLogContract("in LMDB", open);
describeTimedLogContract("in LMDB", open);

async function openCheckpoints(): Promise<CheckpointsUnderTest> {
  const { dataDir, remove } = temporary();
  const environment = new Environment({ dataDir, partitions: 2, newId: () => "c" });
  return {
    store: new LmdbCheckpoints(environment),
    close: async () => {
      await environment.close();
      remove();
    },
  };
}

describeCheckpointContract("in LMDB", openCheckpoints, true);
