// What a record costs on the wire, ours beside kafkajs: `npx tsx test/bench/record-batch.ts` prints
// microseconds of processor time for each record.
import { createRequire } from "node:module";
import { createProduceRequest } from "../../services/adapters/kafka/patches/produce-request.ts";
import { RecordCursor } from "../../services/adapters/kafka/records/decode-records.ts";
import type { FetchedPartition } from "../../services/adapters/kafka/records/fetch-request.ts";
import { stampBatch, walkBatches } from "../../services/adapters/kafka/records/record-batches.ts";
import { percentile } from "./bench-row.ts";

const ROUNDS = 15;
const RECORDS = 500;
const REPEATS = 40;
const BODY_BYTES = 300;

type Encoded = { readonly buffer: Buffer };
type Request = { encode(): Promise<Encoded> };
type MakeRequest = (input: object) => Request;
type StockDecoder = new (bytes: Buffer) => object;

const require = createRequire(import.meta.url);
const stock = {
  request: require("kafkajs/src/protocol/requests/produce/v3/request") as MakeRequest,
  decode: require("kafkajs/src/protocol/requests/fetch/v4/decodeMessages") as (
    decoder: object,
  ) => Promise<readonly unknown[]>,
  Decoder: require("kafkajs/src/protocol/decoder") as StockDecoder,
};

const messages = Array.from({ length: RECORDS }, (_, index) => ({
  key: `tenant/conversation-${index % 50}`,
  value: Buffer.alloc(BODY_BYTES, index),
  partition: 0,
  headers: index % 2 === 0 ? undefined : { traceparent: "00-0af7651916cd43dd8448eb211c80319c-01" },
}));

const input = {
  acks: -1,
  timeout: 30_000,
  transactionalId: "app.group.0",
  producerId: "4000",
  producerEpoch: 3,
  topicData: [
    { topic: "toolcalls.decisions.v1", partitions: [{ partition: 0, firstSequence: 7, messages }] },
  ],
};

/** The offset of the batch in a request with one topic-partition. */
function batchOf(request: Buffer): Buffer {
  const { transactionalId, topicData } = input;
  const topic = topicData[0]?.topic ?? "";
  const from = 2 + transactionalId.length + 2 + 4 + 4 + 2 + topic.length + 4 + 4;
  return request.subarray(from);
}

async function measure(name: string, run: () => Promise<unknown>): Promise<void> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let repeat = 0; repeat < REPEATS; repeat += 1) await run();
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / REPEATS / RECORDS);
  }
  const micros = Float64Array.from(rounds).sort();
  const best = (micros[0] ?? 0).toFixed(2);
  console.log(`${name.padEnd(34)} ${percentile(micros, 0.5).toFixed(2).padStart(6)} µs  (${best})`);
}

function readAll(batch: Buffer): number {
  const fetched: FetchedPartition = {
    topic: "t",
    partition: 0,
    errorCode: 0,
    stableOffset: RECORDS,
    aborted: [],
    payload: batch,
    from: 4,
    to: batch.length,
  };
  let bytes = 0;
  const { batches } = walkBatches(fetched, 0);
  for (const one of batches) {
    const cursor = new RecordCursor(one);
    while (!cursor.isDone) bytes += cursor.next().value?.length ?? 0;
  }
  if (bytes !== RECORDS * BODY_BYTES) throw new Error(`read ${bytes} bytes`);
  return bytes;
}

/** The field with the length of the batch, before the batch. */
const SIZE_BYTES = 4;

async function main(): Promise<void> {
  console.log(`${RECORDS} records of ${BODY_BYTES} bytes in a batch, every second with a header`);
  const make = createProduceRequest as MakeRequest;
  const request = batchOf((await make(input).encode()).buffer);
  // The batch as a broker with LogAppendTime returns it.
  stampBatch(request.subarray(SIZE_BYTES), 0, 1);
  await measure("encode, kafkajs", () => stock.request(input).encode());
  await measure("encode, ours", () => make(input).encode());
  await measure("decode, kafkajs", () => stock.decode(new stock.Decoder(request)));
  await measure("decode and check, ours", async () => readAll(request));
  const { crc32c } = await import("@node-rs/crc32");
  await measure("checksum", async () => crc32c(request));
}

await main();
