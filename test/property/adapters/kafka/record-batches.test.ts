import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { createProduceRequest } from "../../../../services/adapters/kafka/patches/produce-request.ts";
import { RecordCursor } from "../../../../services/adapters/kafka/records/decode-records.ts";
import type { AbortedTransaction } from "../../../../services/adapters/kafka/records/fetch-request.ts";
import {
  type RecordBatch,
  stampBatch,
  walkBatches,
} from "../../../../services/adapters/kafka/records/record-batches.ts";
import type { LogRecord } from "../../../../services/runtime/ports.ts";
import {
  APPEND_TIME,
  batchBytes,
  fetchedOf,
  markerBytes,
  TRANSACTIONAL,
} from "../../../support/kafka/fetch-image.ts";

const require = createRequire(import.meta.url);
type MakeRequest = (input: object) => { encode(): Promise<{ readonly buffer: Buffer }> };
const stockRequest = require("kafkajs/src/protocol/requests/produce/v3/request") as MakeRequest;

type Step =
  | { readonly kind: "data"; readonly producer: number; readonly count: number }
  | { readonly kind: "plain"; readonly count: number }
  | { readonly kind: "emptied"; readonly count: number }
  | { readonly kind: "end"; readonly producer: number; readonly isCommit: boolean };

const producer = fc.integer({ min: 0, max: 3 });
const count = fc.integer({ min: 1, max: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("data" as const), producer, count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("plain" as const), count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("emptied" as const), count }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("end" as const), producer, isCommit: fc.boolean() }),
  },
);

type Placed = { readonly lastOffset: number; readonly bytes: Buffer };
type Transaction = { readonly firstOffset: number; readonly values: [number, string][] };

/** A partition as a broker stores it: its batches, and the records that a reader must get. */
class Image {
  readonly placed: Placed[] = [];
  readonly aborted: (AbortedTransaction & { readonly lastOffset: number })[] = [];
  readonly committed: [number, string][] = [];
  readonly #open = new Map<number, Transaction>();
  #next = 0;

  apply(one: Step): void {
    const baseOffset = this.#next;
    if (one.kind === "end") this.#end(one.producer, one.isCommit);
    else if (one.kind === "emptied") {
      const lastOffset = baseOffset + one.count - 1;
      this.#append(batchBytes({ baseOffset, values: [], lastOffset }), lastOffset);
    } else this.#write(one);
  }

  /** The first offset that is not decided. */
  get stableOffset(): number {
    const firsts = [...this.#open.values()].map(({ firstOffset }) => firstOffset);
    return Math.min(this.#next, ...firsts);
  }

  #write(one: Step & { readonly kind: "data" | "plain" }): void {
    const baseOffset = this.#next;
    const values = Array.from({ length: one.count }, (_, index) => `v${baseOffset + index}`);
    const isPlain = one.kind === "plain";
    const producerId = isPlain ? -1 : one.producer;
    const attributes = isPlain ? APPEND_TIME : APPEND_TIME | TRANSACTIONAL;
    this.#append(
      batchBytes({ baseOffset, values, producerId, attributes }),
      baseOffset + one.count - 1,
    );
    const pairs = values.map((value, index): [number, string] => [baseOffset + index, value]);
    if (isPlain) {
      this.committed.push(...pairs);
      return;
    }
    const open = this.#open.get(one.producer) ?? { firstOffset: baseOffset, values: [] };
    open.values.push(...pairs);
    this.#open.set(one.producer, open);
  }

  #end(producerId: number, isCommit: boolean): void {
    const open = this.#open.get(producerId);
    if (open === undefined) return;
    this.#open.delete(producerId);
    const offset = this.#next;
    this.#append(markerBytes(offset, producerId, isCommit), offset);
    if (isCommit) this.committed.push(...open.values);
    else this.aborted.push({ producerId, firstOffset: open.firstOffset, lastOffset: offset });
  }

  #append(bytes: Buffer, lastOffset: number): void {
    this.placed.push({ bytes, lastOffset });
    this.#next = lastOffset + 1;
  }
}

it("gives what was committed below the stable offset, from wherever it begins", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(60), (steps, at) => {
      const image = new Image();
      for (const one of steps) image.apply(one);
      const stable = image.stableOffset;
      const from = Math.min(at, stable);
      const seen = image.placed.filter(
        ({ lastOffset }) => lastOffset >= from && lastOffset < stable,
      );
      const aborted = image.aborted.filter(({ lastOffset }) => lastOffset >= from);
      const fetched = fetchedOf(
        seen.map(({ bytes }) => bytes),
        aborted,
        stable,
      );
      const { batches, nextOffset, failure } = walkBatches(fetched, from);
      expect(failure).toBeNull();
      expect(nextOffset).toBe(Math.max(from, stable));
      const read = batches.flatMap(readBatch).filter(({ offset }) => offset >= from);
      const expected = image.committed
        .filter(([offset]) => offset >= from && offset < stable)
        .sort(([one], [other]) => one - other);
      expect(read.map(({ offset, value }) => [offset, String(value)])).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const key = fc.oneof(fc.constant(null), fc.string(), bytes);
const headers = fc.dictionary(
  fc.string({ maxLength: 8 }),
  fc.oneof(fc.string(), fc.array(fc.string(), { minLength: 1, maxLength: 3 })),
  {
    maxKeys: 4,
    noNullPrototype: true,
  },
);
const message = fc.record(
  { key, value: fc.oneof(fc.constant(null), bytes), headers },
  { requiredKeys: ["key", "value"] },
);

it("writes a request as kafkajs does, byte for byte", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_000 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 20 }),
      fc.record({
        transactionalId: fc.oneof(fc.constant(null), fc.constant("app.group.0")),
        producerId: fc.maxSafeNat().map(String),
        producerEpoch: fc.nat(32_000),
        firstSequence: fc.nat(2_000_000),
      }),
      async (messages, ids) => {
        const { firstSequence, ...producerIds } = ids;
        const partitions = [
          { partition: 3, firstSequence, messages },
          { partition: 200, firstSequence: 0, messages: messages.slice(0, 1) },
        ];
        const input = {
          acks: -1,
          timeout: 30_000,
          ...producerIds,
          topicData: [{ topic: "calls", partitions }],
        };
        const ours = (await (createProduceRequest as MakeRequest)(input).encode()).buffer;
        const theirs = (await stockRequest(input).encode()).buffer;
        expect(ours.equals(theirs)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
  vi.useRealTimers();
});

const REQUEST_BYTES = 2 + 2 + 4 + 4 + 2 + "calls".length + 4 + 4 + 4;

it("reads back what it wrote", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 20 }), async (messages) => {
      const topicData = [{ topic: "calls", partitions: [{ partition: 0, messages }] }];
      const make = createProduceRequest as MakeRequest;
      const { buffer } = await make({ acks: -1, timeout: 1, topicData }).encode();
      const batch = Buffer.from(buffer.subarray(REQUEST_BYTES));
      // The broker's time, which only a broker gives.
      stampBatch(batch, 0, 1);
      const walked = walkBatches(fetchedOf([batch]), 0);
      expect(walked.failure).toBeNull();
      const read = walked.batches.flatMap(readBatch);
      expect(read.map(plain)).toEqual(messages.map(sent));
    }),
    { numRuns: 300 },
  );
});

function readBatch(batch: RecordBatch): readonly LogRecord[] {
  const cursor = new RecordCursor(batch);
  const records: LogRecord[] = [];
  while (!cursor.isDone) records.push(cursor.next());
  return records;
}

type Message = typeof message extends fc.Arbitrary<infer T> ? T : never;

function sent({ key, value, headers = {} }: Message): unknown {
  const list = Object.entries(headers).flatMap(([name, headerValues]) =>
    (Array.isArray(headerValues) ? headerValues : [headerValues]).map((one) => ({
      name,
      value: one,
    })),
  );
  const bytesOf = (part: string | Buffer | null): string | null =>
    part === null ? null : Buffer.from(part).toString("hex");
  return { key: bytesOf(key), value: bytesOf(value), headers: list };
}

function plain({ key, value, headers }: LogRecord): unknown {
  const hex = (part: Uint8Array | null): string | null =>
    part === null ? null : Buffer.from(part).toString("hex");
  return { key: hex(key), value: hex(value), headers };
}
