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
  it("gives all to one, halves to two, and somebody the rest of three", () => {
    expect(plain(assignPartitions([member("a")], 4))).toEqual({ a: [0, 1, 2, 3] });
    expect(plain(assignPartitions([member("a", [0, 1, 2, 3]), member("b")], 4))).toEqual({
      a: [0, 1],
      b: [2, 3],
    });
    const three = [member("a", [0, 1]), member("b", [2, 3]), member("c")];
    expect(plain(assignPartitions(three, 4))).toEqual({ a: [0, 1], b: [2], c: [3] });
  });

  it("gives nothing to those who are too many", () => {
    expect(plain(assignPartitions([member("a"), member("b", [0])], 1))).toEqual({ a: [], b: [0] });
  });

  it("believes the later of two who claim one number", () => {
    const both = [member("a", [0, 1], 3), member("b", [0, 1], 4)];
    expect(plain(assignPartitions(both, 2))).toEqual({ a: [1], b: [0] });
  });

  it("ignores claims of partitions that do not exist", () => {
    expect(plain(assignPartitions([member("a", [7, -1, 0])], 1))).toEqual({ a: [0] });
  });

  it("assigns nothing where there is nobody", () => {
    expect(assignPartitions([], 3).size).toBe(0);
  });
});

describe("partitionsForOneMore", () => {
  it("names what a newcomer gets, then what it may get where one of the others is gone", () => {
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

  it("names none where nobody is there: then there is nothing to wait for", () => {
    expect(partitionsForOneMore([], 4)).toEqual([]);
  });

  it("names no more than each of the others has to bear", () => {
    const ten = Array.from({ length: 10 }, (_, at) => [at, at + 10]);
    expect(partitionsForOneMore(ten, 20)).toHaveLength(2);
  });
});
