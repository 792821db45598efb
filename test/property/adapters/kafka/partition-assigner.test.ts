import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assignNumbers,
  type MemberClaim,
} from "../../../../services/adapters/kafka/membership/partition-assigner.ts";

const claims = (members: number, partitions: number) =>
  fc.uniqueArray(
    fc.record({
      memberId: fc.stringMatching(/^[a-f0-9]{1,8}$/),
      numbers: fc.uniqueArray(fc.integer({ min: -1, max: partitions + 2 })),
      generation: fc.integer({ min: -1, max: 5 }),
    }),
    { minLength: 1, maxLength: members, selector: ({ memberId }) => memberId },
  );

const group = fc
  .integer({ min: 1, max: 24 })
  .chain((partitions) =>
    fc.record({ partitions: fc.constant(partitions), members: claims(5, partitions) }),
  );

const allOf = (assigned: ReadonlyMap<string, readonly number[]>): number[] =>
  [...assigned.values()].flat().sort((a, b) => a - b);

const withOwn = (
  members: readonly MemberClaim[],
  assigned: ReadonlyMap<string, readonly number[]>,
): MemberClaim[] =>
  members.map(({ memberId }) => ({
    memberId,
    numbers: assigned.get(memberId) ?? [],
    generation: 9,
  }));

describe("the assignment of partition numbers", () => {
  it("gives each number to exactly one member, and no member two more than another", () => {
    fc.assert(
      fc.property(group, ({ members, partitions }) => {
        const assigned = assignNumbers(members, partitions);
        expect(allOf(assigned)).toEqual(Array.from({ length: partitions }, (_, at) => at));
        const counts = members.map(({ memberId }) => assigned.get(memberId)?.length ?? -1);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("does not depend on the order in which members come", () => {
    fc.assert(
      fc.property(group, ({ members, partitions }) => {
        const sorted = (one: ReadonlyMap<string, readonly number[]>): unknown => [...one].sort();
        const forth = assignNumbers(members, partitions);
        const back = assignNumbers([...members].reverse(), partitions);
        expect(sorted(back)).toEqual(sorted(forth));
      }),
    );
  });

  it("moves nothing while nobody comes or goes", () => {
    fc.assert(
      fc.property(group, ({ members, partitions }) => {
        const assigned = assignNumbers(members, partitions);
        expect(assignNumbers(withOwn(members, assigned), partitions)).toEqual(assigned);
      }),
    );
  });

  it("takes from nobody more than its share when one comes", () => {
    fc.assert(
      fc.property(group, ({ members, partitions }) => {
        const before = assignNumbers(members, partitions);
        const comer = { memberId: "zz", numbers: [], generation: -1 };
        const after = assignNumbers([...withOwn(members, before), comer], partitions);
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
      fc.property(group, ({ members, partitions }) => {
        fc.pre(members.length > 1);
        const before = assignNumbers(members, partitions);
        const after = assignNumbers(withOwn(members, before).slice(1), partitions);
        for (const { memberId } of members.slice(1)) {
          const has = after.get(memberId) ?? [];
          expect((before.get(memberId) ?? []).filter((one) => !has.includes(one))).toEqual([]);
        }
      }),
    );
  });
});
