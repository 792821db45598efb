// The journals that earlier versions wrote, with the records that they consumed and the calls that
// they allowed.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import type { Topic } from "../../../services/runtime/topics.ts";

export const JOURNALS_FOLDER = fileURLToPath(new URL("../../golden/journals/", import.meta.url));

/** Topic, offset, append time in ms, key, value in Base64; all of partition 0. */
export type RecordedRow = readonly [
  topic: Topic,
  offset: number,
  appendTimeMs: number,
  key: string | null,
  value: string,
];

export type RecordedJournal = {
  /** `v` and the version of the schemas, then the story: `v1-first`. */
  readonly name: string;
  /** Name in `EVERY_STORY`. */
  readonly story: string;
  readonly records: readonly RecordedRow[];
};

export function readRecordedJournals(): readonly RecordedJournal[] {
  const files = readdirSync(JOURNALS_FOLDER).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => {
    const text = readFileSync(join(JOURNALS_FOLDER, file), "utf8");
    return {
      name: basename(file, ".json"),
      ...(JSON.parse(text) as Omit<RecordedJournal, "name">),
    };
  });
}

/** Appends the records at their original offsets. */
export function appendRecorded(log: MemoryLog, { name, records }: RecordedJournal): void {
  for (const [topic, offset, appendTimeMs, key, value] of records) {
    const record = { topic, partition: 0, key, value: Buffer.from(value, "base64") };
    const [appended] = log.topics.append([record], appendTimeMs);
    if (appended?.offset !== offset || appended.appendTimeMs !== appendTimeMs) {
      throw new Error(`${name}: ${topic} ${offset} is not at its original offset`);
    }
  }
}

export function valuesOf({ records }: RecordedJournal, topic: Topic): readonly Buffer[] {
  return records
    .filter(([of]) => of === topic)
    .map(([, , , , value]) => Buffer.from(value, "base64"));
}
