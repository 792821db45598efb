import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assignPartitions,
  type MemberClaim,
} from "../../../../services/adapters/kafka/membership/partition-assigner.ts";

const claims = (members: number, partitionCount: number) =>
  fc.uniqueArray(
    fc.record({
      memberId: fc.stringMatching(/^[a-f0-9]{1,8}$/),
      partitions: fc.uniqueArray(fc.integer({ min: -1, max: partitionCount + 2 })),
      generation: fc.integer({ min: -1, max: 5 }),
    }),
    { minLength: 1, maxLength: members, selector: ({ memberId }) => memberId },
  );

const group = fc
  .integer({ min: 1, max: 24 })
  .chain((partitionCount) =>
    fc.record({ partitionCount: fc.constant(partitionCount), members: claims(5, partitionCount) }),
  );

const allOf = (assigned: ReadonlyMap<string, readonly number[]>): number[] =>
  [...assigned.values()].flat().sort((a, b) => a - b);

const withOwn = (
  members: readonly MemberClaim[],
  assigned: ReadonlyMap<string, readonly number[]>,
): MemberClaim[] =>
  members.map(({ memberId }) => ({
    memberId,
    partitions: assigned.get(memberId) ?? [],
    generation: 9,
  }));

describe("the assignment of partitions", () => {
  it("gives each number to exactly one member, and no member two more than another", () => {
    fc.assert(
      fc.property(group, ({ members, partitionCount }) => {
        const assigned = assignPartitions(members, partitionCount);
        expect(allOf(assigned)).toEqual(Array.from({ length: partitionCount }, (_, at) => at));
        const counts = members.map(({ memberId }) => assigned.get(memberId)?.length ?? -1);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("does not depend on the order in which members come", () => {
    fc.assert(
      fc.property(group, ({ members, partitionCount }) => {
        const sorted = (one: ReadonlyMap<string, readonly number[]>): unknown => [...one].sort();
        const forth = assignPartitions(members, partitionCount);
        const back = assignPartitions([...members].reverse(), partitionCount);
        expect(sorted(back)).toEqual(sorted(forth));
      }),
    );
  });

  it("moves nothing while nobody comes or goes", () => {
    fc.assert(
      fc.property(group, ({ members, partitionCount }) => {
        const assigned = assignPartitions(members, partitionCount);
        expect(assignPartitions(withOwn(members, assigned), partitionCount)).toEqual(assigned);
      }),
    );
  });

  it("takes from nobody more than its share when one comes", () => {
    fc.assert(
      fc.property(group, ({ members, partitionCount }) => {
        const before = assignPartitions(members, partitionCount);
        const comer = { memberId: "zz", partitions: [], generation: -1 };
        const after = assignPartitions([...withOwn(members, before), comer], partitionCount);
        for (const { memberId } of members) {
          const had = before.get(memberId) ?? [];
          const has = after.get(memberId) ?? [];
          expect(has.filter((number) => !had.includes(number))).toEqual([]);
        }
      }),
    );
  });

  it("moves only what the one had who goes", () => {
    fc.assert(
      fc.property(group, ({ members, partitionCount }) => {
        fc.pre(members.length > 1);
        const before = assignPartitions(members, partitionCount);
        const after = assignPartitions(withOwn(members, before).slice(1), partitionCount);
        for (const { memberId } of members.slice(1)) {
          const has = after.get(memberId) ?? [];
          expect((before.get(memberId) ?? []).filter((one) => !has.includes(one))).toEqual([]);
        }
      }),
    );
  });
});
