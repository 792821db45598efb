import { describe, expect, it } from "vitest";
import { conversationKey, murmur2, partitionOf } from "../../../services/runtime/partitioner.ts";

describe("murmur2", () => {
  // The values of the test in Kafka's own Java client.
  it.each([
    ["21", -973_932_308],
    ["foobar", -790_332_482],
    ["a-little-bit-long-string", -985_981_536],
    ["a-little-bit-longer-string", -1_486_304_829],
    ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971],
    ["abc", 479_470_107],
  ])("of %s has Kafka's value", (text, expected) => {
    expect(murmur2(Buffer.from(text))).toBe(expected);
  });
});

describe("the partition of a key", () => {
  it("is the hash without its sign, modulo the number of partitions", () => {
    expect(partitionOf("foobar", 7)).toBe((-790_332_482 & 0x7fffffff) % 7);
    expect(partitionOf(Buffer.from("foobar"), 7)).toBe(partitionOf("foobar", 7));
  });

  it("uses all partitions, none much more than another", () => {
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4_000; i += 1) {
      const partition = partitionOf(conversationKey("tenant", `conversation-${i}`), 4);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(900);
  });
});
