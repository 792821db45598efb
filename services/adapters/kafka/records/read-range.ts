/** Reads all records of a range of one topic-partition, for tools and take-overs. */
import type { LogRecord } from "../../../runtime/ports.ts";
import type { ClusterLink } from "../cluster-link.ts";
import { CONTROL } from "../patches/kafkajs-internals.ts";
import { RecordCursor } from "./decode-records.ts";
import { type FetchedPartition, fetchRequest } from "./fetch-request.ts";
import { producerOf, type RecordBatch, walkBatches } from "./record-batches.ts";

export type OffsetRange = {
  /** The topic's name in the cluster. */
  readonly name: string;
  readonly partition: number;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** False: also records of open and aborted transactions. */
  readonly committed: boolean;
};

export type RangeRecords = {
  readonly records: readonly LogRecord[];
  /** Ids of the producers of these records. */
  readonly producers: ReadonlySet<number>;
};

const BYTES_MAX = 8 * 1024 * 1024;

/** @throws Error where the leader does not answer, or answers with an error. */
export async function readRange(link: ClusterLink, range: OffsetRange): Promise<RangeRecords> {
  const { name, partition, from, to, committed } = range;
  const records: LogRecord[] = [];
  const producers = new Set<number>();
  for (let offset = from; offset < to; ) {
    const fetched = await fetchAt(link, range, offset);
    const { batches, nextOffset, failure } = walkBatches(fetched, offset, { committed });
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
  { name, partition, committed }: OffsetRange,
  offset: number,
): Promise<FetchedPartition> {
  const leader = link.leaderOf(name, partition);
  if (leader === undefined) throw new Error(`${name}[${partition}] has no leader`);
  const positions = [{ topic: name, partition, offset, bytesMax: BYTES_MAX }];
  const request = fetchRequest({ positions, waitMs: 0, bytesMax: BYTES_MAX, committed });
  const [fetched] = await link.send(leader, CONTROL, request);
  const code = fetched?.errorCode ?? 0;
  if (fetched !== undefined && code === 0) return fetched;
  const text = `${name}[${partition}]: the broker answered error ${code}`;
  throw Object.assign(new Error(text), { code });
}

function recordsOf(batch: RecordBatch): readonly LogRecord[] {
  const records: LogRecord[] = [];
  for (const cursor = new RecordCursor(batch); !cursor.isDone; ) records.push(cursor.next());
  return records;
}
