/** The speed of a replay: reading, decoding, checking the chain, folding the events. */

import { systemClock } from "../../services/adapters/system/clock.ts";
import { openDiskLog } from "../../services/process/directory/open-storage.ts";
import { coreFold } from "../../services/runtime/core-engine.ts";
import { PartitionState } from "../../services/runtime/partition-state.ts";
import { readJournal } from "../../services/runtime/read-journal.ts";
import { Replay } from "../../services/runtime/replay.ts";
import { JOURNAL_TOPIC } from "../../services/runtime/topics.ts";
import { createAvroCodec } from "../../services/wire/codec.ts";
import type { BenchRow } from "./bench-row.ts";

export const REPLAY_ROW = "replay of the journal";

const MS_PER_SECOND = 1_000;
const PARTITION = 0;

/** A replay of the whole journal, without a checkpoint. */
export async function benchRestore(dataDir: string): Promise<readonly BenchRow[]> {
  const log = openDiskLog(dataDir, systemClock);
  const codec = createAvroCodec({ secrets: new Map() });
  const endOffset = await log.endOffset(JOURNAL_TOPIC, PARTITION);
  const state = new PartitionState(coreFold);
  const options = { startMoved: false, checkChain: true, hashesFromSeq: 0, spanMs: 0 };
  const replay = new Replay(state, options);
  const start = performance.now();
  for await (const entries of readJournal(log, codec, PARTITION, 0, endOffset)) {
    replay.apply(entries);
  }
  const elapsedMs = performance.now() - start;
  await log.close();
  const { seq } = state.progress;
  if (seq === 0) throw new Error("the journal is empty");
  const note = `${seq} records, ${state.size} conversations, ${Math.round(elapsedMs)} ms`;
  return [{ name: REPLAY_ROW, unit: "records/s", p50: (seq / elapsedMs) * MS_PER_SECOND, note }];
}
