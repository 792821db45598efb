import { describe, expect, it } from "vitest";
import {
  assignPartitions,
  partitionsForOneMore,
} from "../../../../services/adapters/kafka/membership/partition-assigner.ts";

const member = (memberId: string, partitions: readonly number[] = [], generation = 1) => ({
  memberId,
  partitions,
  generation,
});

const plain = (assigned: ReadonlyMap<string, readonly number[]>): unknown =>
  Object.fromEntries(assigned);

describe("assignPartitions", () => {
  it("assigns all partitions to one member, halves to two, and thirds with a rest to three", () => {
    expect(plain(assignPartitions([member("a")], 4))).toEqual({ a: [0, 1, 2, 3] });
    expect(plain(assignPartitions([member("a", [0, 1, 2, 3]), member("b")], 4))).toEqual({
      a: [0, 1],
      b: [2, 3],
    });
    const three = [member("a", [0, 1]), member("b", [2, 3]), member("c")];
    expect(plain(assignPartitions(three, 4))).toEqual({ a: [0, 1], b: [2], c: [3] });
  });

  it("assigns nothing to surplus members", () => {
    expect(plain(assignPartitions([member("a"), member("b", [0])], 1))).toEqual({ a: [], b: [0] });
  });

  it("prefers the later of two claims to a partition", () => {
    const both = [member("a", [0, 1], 3), member("b", [0, 1], 4)];
    expect(plain(assignPartitions(both, 2))).toEqual({ a: [1], b: [0] });
  });

  it("ignores claims of partitions that do not exist", () => {
    expect(plain(assignPartitions([member("a", [7, -1, 0])], 1))).toEqual({ a: [0] });
  });

  it("assigns nothing without members", () => {
    expect(assignPartitions([], 3).size).toBe(0);
  });
});

describe("partitionsForOneMore", () => {
  it("lists what a new member gets, then what it may get if another is gone", () => {
    expect(partitionsForOneMore([[0, 1, 2, 3]], 4)).toEqual([2, 3, 0, 1]);
    expect(
      partitionsForOneMore(
        [
          [0, 1, 2],
          [3, 4, 5],
        ],
        6,
      ),
    ).toEqual([2, 5, 0]);
  });

  it("lists nothing without members", () => {
    expect(partitionsForOneMore([], 4)).toEqual([]);
  });

  it("lists no more than the largest share without the new member", () => {
    const ten = Array.from({ length: 10 }, (_, at) => [at, at + 10]);
    expect(partitionsForOneMore(ten, 20)).toHaveLength(2);
  });
});
