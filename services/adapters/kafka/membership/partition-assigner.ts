/**
 * Assigns partitions (KAFKA-17): a member gets a partition of every input topic at once, since proposals,
 * results and verdicts of one partition have one owner. Balanced, and sticky to the last owner, which has
 * the state.
 */
import type { PartitionAssigner } from "kafkajs";
import { loadKafkajs } from "../patches/load-kafkajs.ts";

/** What a member says of itself when it joins. */
export type MemberClaim = {
  readonly memberId: string;
  /** Partitions it has state of. */
  readonly partitions: readonly number[];
  /** Generation it had them in: of two that claim one partition, the later owner has it. */
  readonly generation: number;
};

/**
 * Each partition from 0 to `partitionCount` - 1 to exactly one member; no member has two more than another.
 * A member keeps what it claims rightly, as far as its share goes. Depends on nothing but its
 * arguments, in whatever order the members come.
 */
export function assignPartitions(
  claims: readonly MemberClaim[],
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> {
  const members = [...claims].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const retained = listRetained(members, partitionCount);
  const count = (memberId: string): number => retained.get(memberId)?.length ?? 0;
  const share = Math.floor(partitionCount / Math.max(1, members.length));
  // The larger shares go to those who have most: every partition taken away is a restore elsewhere.
  let larger = partitionCount - share * members.length;
  for (const { memberId } of [...members].sort((a, b) => count(b.memberId) - count(a.memberId))) {
    const most = share + (larger > 0 ? 1 : 0);
    if (larger > 0) larger -= 1;
    retained.get(memberId)?.splice(most);
  }
  const taken = new Set([...retained.values()].flat());
  for (let partition = 0; partition < partitionCount; partition += 1) {
    if (taken.has(partition)) continue;
    const poorest = leastOf(members, count);
    if (poorest !== undefined) retained.get(poorest.memberId)?.push(partition);
  }
  return new Map(
    [...retained].map(([memberId, partitions]) => [memberId, partitions.sort((a, b) => a - b)]),
  );
}

/**
 * The partitions that one more member may get, the likeliest first: what it would get among the members
 * there are, then others, since one of these may be gone and nobody has noticed. No more than each has
 * to bear without it.
 */
export function partitionsForOneMore(
  members: readonly (readonly number[])[],
  partitionCount: number,
): readonly number[] {
  if (members.length === 0) return [];
  const claims = members.map((partitions, at) => ({
    memberId: `m${at}`,
    partitions,
    generation: 0,
  }));
  const newcomer = { memberId: "newcomer", partitions: [], generation: -1 };
  const likely =
    assignPartitions([...claims, newcomer], partitionCount).get(newcomer.memberId) ?? [];
  const others = Array.from({ length: partitionCount }, (_, partition) => partition);
  const most = Math.ceil(partitionCount / members.length);
  return [...new Set([...likely, ...others])].slice(0, most);
}

/** What a member has been assigned, of what the group tells; of several topics the same partitions. */
export function assignedPartitions(memberAssignment: Buffer): readonly number[] {
  const decoded = loadKafkajs().AssignerProtocol.MemberAssignment.decode(memberAssignment);
  return [...new Set(Object.values(decoded?.assignment ?? {}).flat())].sort((a, b) => a - b);
}

function listRetained(
  members: readonly MemberClaim[],
  partitionCount: number,
): Map<string, number[]> {
  const retained = new Map<string, number[]>(members.map(({ memberId }) => [memberId, []]));
  for (let partition = 0; partition < partitionCount; partition += 1) {
    let owner: MemberClaim | undefined;
    for (const member of members) {
      if (!member.partitions.includes(partition)) continue;
      if (owner === undefined || member.generation > owner.generation) owner = member;
    }
    if (owner !== undefined) retained.get(owner.memberId)?.push(partition);
  }
  return retained;
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
export type Claim = Pick<MemberClaim, "partitions" | "generation">;

const NAME = "callgate-partitions";
const VERSION = 1;

/**
 * @param claim what this member has; asked for right before each join, which is also the only sure
 *   sign that everything may be lost.
 */
export function createPartitionAssigner(claim: () => Claim): PartitionAssigner {
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
      // Partitions that not every topic has cannot be run; the start checks and the watch say so.
      const partitionCount = Math.min(
        ...topics.map((topic) => cluster.findTopicPartitionMetadata(topic).length),
      );
      const claims = members.flatMap(({ memberId, memberMetadata }): MemberClaim[] => {
        const metadata = MemberMetadata.decode(memberMetadata);
        // A member of another installation in our group: it must not decide on our topics.
        if (metadata === null || !isSame(metadata.topics, topics)) return [];
        return [{ memberId, ...readClaim(metadata.userData) }];
      });
      const partitions = assignPartitions(claims, partitionCount);
      return members.map(({ memberId }) => {
        const own = [...(partitions.get(memberId) ?? [])];
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
    const { partitions, generation } = JSON.parse(userData.toString("utf8")) as Partial<Claim>;
    if (Array.isArray(partitions) && typeof generation === "number") {
      return { partitions: partitions.filter(Number.isSafeInteger), generation };
    }
  } catch {
    // Not JSON: the same as no claim.
  }
  return { partitions: [], generation: -1 };
}
