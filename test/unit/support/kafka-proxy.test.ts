import { describe, expect, it } from "vitest";
import { readdressed } from "../../support/kafka-proxy/addresses.ts";
import { refuseProduce } from "../../support/kafka-proxy/answers.ts";
import { Cursor, int8, int16, int32, list, text } from "../../support/kafka-proxy/wire.ts";

const BROKER_PORTS = [9_092, 41_093, 60_094];
const HOST = "127.0.0.1";

function compact(value: string): Buffer {
  return Buffer.concat([int8(value.length + 1), Buffer.from(value)]);
}

describe("the proxy", () => {
  it("writes its ports into a Metadata answer in compact encodings", () => {
    const answer = (ports: readonly number[], rack: string | null): Buffer =>
      Buffer.concat([
        ...[int32(7), int8(0), int32(0), int8(ports.length + 1)],
        ...ports.flatMap((port, node) => [
          ...[int32(node), compact(HOST), int32(port)],
          rack === null ? int8(0) : compact(rack),
          int8(0),
        ]),
        ...[compact("cluster"), int32(0), int8(1), int8(0)],
      ]);
    const book = { portFor: (port: number) => port + 1, portOfNode: () => 0, cast: null };
    for (const rack of [null, "east"]) {
      const seen = readdressed(
        answer(BROKER_PORTS, rack),
        { api: "Metadata", version: 10, correlationId: 7 },
        book,
      );
      expect(seen.toString("hex")).toBe(
        answer(
          BROKER_PORTS.map((port) => port + 1),
          rack,
        ).toString("hex"),
      );
    }
  });

  it("refuses each partition of a Produce request", () => {
    const records = (size: number): Buffer =>
      Buffer.concat([int32(size), Buffer.alloc(size, 0x7f)]);
    const partition = (at: number, size: number): Buffer =>
      Buffer.concat([int32(at), records(size)]);
    const topics = [
      Buffer.concat([text("one"), list([partition(0, 9), partition(3, 70)])]),
      Buffer.concat([text("two"), list([partition(1, 1)])]),
    ];
    const body = Buffer.concat([text(null), int16(-1), int32(30_000), list(topics)]);
    const head = [int16(0), int16(7), int32(1), text("client")];
    const cursor = new Cursor(refuseProduce(Buffer.concat([...head, body]), 19));
    const refused = cursor.list(() => {
      const topic = cursor.text();
      return cursor.list(() => {
        const refusedPartition = [topic, cursor.int32(), cursor.int16()];
        cursor.at += 24;
        return refusedPartition;
      });
    });
    expect(refused.flat()).toEqual([
      ["one", 0, 19],
      ["one", 3, 19],
      ["two", 1, 19],
    ]);
  });
});
