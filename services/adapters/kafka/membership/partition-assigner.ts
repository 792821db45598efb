/**
 * Assigns partition *numbers* (KAFKA-17): a member gets that number of every input topic, since proposals,
 * results and verdicts of one number have one owner. Balanced, and sticky to the last owner, which has
 * the state.
 */
import type { PartitionAssigner } from "kafkajs";
import { loadKafkajs } from "../patches/load-kafkajs.ts";

/** What a member says of itself when it joins. */
export type MemberClaim = {
  readonly memberId: string;
  /** Numbers it has state of. */
  readonly numbers: readonly number[];
  /** Generation it had them in: of two that claim one number, the later owner has it. */
  readonly generation: number;
};

/**
 * Each number from 0 to `partitions` - 1 to exactly one member; no member has two more than another.
 * A member keeps what it claims rightly, as far as its share goes. Depends on nothing but its
 * arguments, in whatever order the members come.
 */
export function assignNumbers(
  claims: readonly MemberClaim[],
  partitions: number,
): ReadonlyMap<string, readonly number[]> {
  const members = [...claims].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const kept = keptBy(members, partitions);
  const count = (memberId: string): number => kept.get(memberId)?.length ?? 0;
  const share = Math.floor(partitions / Math.max(1, members.length));
  // The larger shares go to those who have most: every number taken away is a restore elsewhere.
  let larger = partitions - share * members.length;
  for (const { memberId } of [...members].sort((a, b) => count(b.memberId) - count(a.memberId))) {
    const most = share + (larger > 0 ? 1 : 0);
    if (larger > 0) larger -= 1;
    kept.get(memberId)?.splice(most);
  }
  const taken = new Set([...kept.values()].flat());
  for (let number = 0; number < partitions; number += 1) {
    if (taken.has(number)) continue;
    const poorest = leastOf(members, count);
    if (poorest !== undefined) kept.get(poorest.memberId)?.push(number);
  }
  return new Map([...kept].map(([memberId, numbers]) => [memberId, numbers.sort((a, b) => a - b)]));
}

/**
 * The numbers that one more member may get, the likeliest first: what it would get among the members
 * there are, then others, since one of these may be gone and nobody has noticed. No more than each has
 * to bear without it.
 */
export function numbersForOneMore(
  members: readonly (readonly number[])[],
  partitions: number,
): readonly number[] {
  if (members.length === 0) return [];
  const claims = members.map((numbers, at) => ({ memberId: `m${at}`, numbers, generation: 0 }));
  const newcomer = { memberId: "newcomer", numbers: [], generation: -1 };
  const likely = assignNumbers([...claims, newcomer], partitions).get(newcomer.memberId) ?? [];
  const others = Array.from({ length: partitions }, (_, number) => number);
  const most = Math.ceil(partitions / members.length);
  return [...new Set([...likely, ...others])].slice(0, most);
}

/** What a member has been assigned, of what the group tells; of several topics the same numbers. */
export function assignedNumbers(memberAssignment: Buffer): readonly number[] {
  const decoded = loadKafkajs().AssignerProtocol.MemberAssignment.decode(memberAssignment);
  return [...new Set(Object.values(decoded?.assignment ?? {}).flat())].sort((a, b) => a - b);
}

function keptBy(members: readonly MemberClaim[], partitions: number): Map<string, number[]> {
  const kept = new Map<string, number[]>(members.map(({ memberId }) => [memberId, []]));
  for (let number = 0; number < partitions; number += 1) {
    let owner: MemberClaim | undefined;
    for (const member of members) {
      if (!member.numbers.includes(number)) continue;
      if (owner === undefined || member.generation > owner.generation) owner = member;
    }
    if (owner !== undefined) kept.get(owner.memberId)?.push(number);
  }
  return kept;
}

function leastOf(
  members: readonly MemberClaim[],
  count: (memberId: string) => number,
): MemberClaim | undefined {
  let least: MemberClaim | undefined;
  for (const member of members) {
    if (least === undefined || count(member.memberId) < count(least.memberId)) least = member;
  }
  return least;
}

/** What a member carries into a join. */
export type Claim = Pick<MemberClaim, "numbers" | "generation">;

const NAME = "callgate-numbers";
const VERSION = 1;

/**
 * @param claim what this member has; asked for right before each join, which is also the only sure
 *   sign that everything may be lost.
 */
export function createNumberAssigner(claim: () => Claim): PartitionAssigner {
  const { MemberAssignment, MemberMetadata } = loadKafkajs().AssignerProtocol;
  return ({ cluster }) => ({
    name: NAME,
    version: VERSION,
    protocol: ({ topics }) => {
      const userData = Buffer.from(JSON.stringify(claim()));
      const metadata = MemberMetadata.encode({ version: VERSION, topics, userData });
      return { name: NAME, metadata };
    },
    assign: async ({ members, topics }) => {
      // Numbers that not every topic has cannot be run; the start checks and the watch say so.
      const partitions = Math.min(
        ...topics.map((topic) => cluster.findTopicPartitionMetadata(topic).length),
      );
      const claims = members.flatMap(({ memberId, memberMetadata }): MemberClaim[] => {
        const metadata = MemberMetadata.decode(memberMetadata);
        // A member of another installation in our group: it must not decide on our topics.
        if (metadata === null || !isSame(metadata.topics, topics)) return [];
        return [{ memberId, ...readClaim(metadata.userData) }];
      });
      const numbers = assignNumbers(claims, partitions);
      return members.map(({ memberId }) => {
        const own = [...(numbers.get(memberId) ?? [])];
        const assignment = Object.fromEntries(topics.map((topic) => [topic, own]));
        const memberAssignment = MemberAssignment.encode({
          version: VERSION,
          assignment,
          userData: Buffer.alloc(0),
        });
        return { memberId, memberAssignment };
      });
    },
  });
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}

/** What another version of a gate wrote is no claim. */
function readClaim(userData: Buffer): Claim {
  try {
    const { numbers, generation } = JSON.parse(userData.toString("utf8")) as Partial<Claim>;
    if (Array.isArray(numbers) && typeof generation === "number") {
      return { numbers: numbers.filter(Number.isSafeInteger), generation };
    }
  } catch {
    // Not JSON: the same as no claim.
  }
  return { numbers: [], generation: -1 };
}
