/** All records of a stretch of one topic-partition, read at once and from the start of the stretch on. */
import type { LogRecord } from "../../../runtime/ports.ts";
import type { ClusterLink } from "../cluster-link.ts";
import { CONTROL } from "../patches/kafkajs-internals.ts";
import { RecordCursor } from "./decode-records.ts";
import { type FetchedPartition, fetchRequest } from "./fetch-request.ts";
import { producerOf, type RecordBatch, walkBatches } from "./record-batches.ts";

export type Stretch = {
  /** The topic's real name. */
  readonly name: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  /** False: what is not decided yet, or was aborted, too. */
  readonly committed: boolean;
};

export type ReadStretch = {
  readonly records: readonly LogRecord[];
  /** Ids of the producers of these records. */
  readonly producers: ReadonlySet<number>;
};

const BYTES_MAX = 8 * 1024 * 1024;

/** @throws where the leader does not answer, or answers with an error. */
export async function readRange(link: ClusterLink, stretch: Stretch): Promise<ReadStretch> {
  const { name, partition, from, to, committed } = stretch;
  const records: LogRecord[] = [];
  const producers = new Set<number>();
  for (let offset = from; offset < to; ) {
    const fetched = await fetchAt(link, stretch, offset);
    const { batches, nextOffset, failure } = walkBatches(fetched, offset, committed);
    for (const batch of batches) {
      producers.add(producerOf(batch));
      records.push(...recordsOf(batch).filter((one) => one.offset >= from && one.offset < to));
    }
    if (failure !== null) throw failure;
    if (nextOffset <= offset) throw new Error(`${name}[${partition}] cannot be read at ${offset}`);
    offset = nextOffset;
  }
  return { records, producers };
}

async function fetchAt(
  link: ClusterLink,
  { name, partition, committed }: Stretch,
  offset: number,
): Promise<FetchedPartition> {
  const leader = link.leaderOf(name, partition);
  if (leader === undefined) throw new Error(`${name}[${partition}] has no leader now`);
  const positions = [{ topic: name, partition, offset, bytesMax: BYTES_MAX }];
  const request = fetchRequest({ positions, waitMs: 0, bytesMax: BYTES_MAX, committed });
  const [fetched] = await link.send(leader, CONTROL, request);
  const code = fetched?.errorCode ?? 0;
  if (fetched !== undefined && code === 0) return fetched;
  throw Object.assign(new Error(`${name}[${partition}]: the broker answered ${code}`), { code });
}

function recordsOf(batch: RecordBatch): readonly LogRecord[] {
  const records: LogRecord[] = [];
  for (const cursor = new RecordCursor(batch); !cursor.isDone; ) records.push(cursor.next());
  return records;
}
