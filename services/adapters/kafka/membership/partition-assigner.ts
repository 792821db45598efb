/**
 * Assigns partitions (KAFKA-17). A member gets a partition in every input topic at once, since
 * proposals, results and verdicts of one partition have one owner. The assignment is balanced, and
 * sticky to the last owner, which has the state.
 */
import type { PartitionAssigner } from "kafkajs";
import { loadKafkajs } from "../patches/load-kafkajs.ts";

/** What a member reports when it joins. */
export type MemberClaim = {
  readonly memberId: string;
  /** Partitions whose state the member has. */
  readonly partitions: readonly number[];
  /** The generation in which it owned them; of two claims to a partition, the later one wins. */
  readonly generation: number;
};

/**
 * Assigns each partition from 0 to `partitionCount` - 1 to exactly one member; the members' counts
 * differ by one at most. A member retains the partitions that it rightly claims, up to its share.
 * The result depends on the arguments alone, and not on the order of the members.
 */
export function assignPartitions(
  claims: readonly MemberClaim[],
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> {
  const members = [...claims].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const retained = listRetained(members, partitionCount);
  const count = (memberId: string): number => retained.get(memberId)?.length ?? 0;
  const share = Math.floor(partitionCount / Math.max(1, members.length));
  // The larger shares go to the members with most partitions, since every move costs a restore.
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
 * The partitions that one more member may get, likeliest first: its assignment among the present
 * members, then others, since a present member may be gone without the group having noticed. The
 * list is no longer than the largest share without the new member.
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

/** Decodes the partitions of a member's assignment; all topics have the same ones. */
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

/** What a member sends with a join. */
export type Claim = Pick<MemberClaim, "partitions" | "generation">;

const NAME = "callgate-partitions";
const VERSION = 1;

/**
 * @param claim returns what this member owns. It is called right before each join; the call is the
 *   only sure sign that the member may lose everything.
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
      // A partition that a topic lacks cannot be run; the checks at start and the watch report it.
      const partitionCount = Math.min(
        ...topics.map((topic) => cluster.findTopicPartitionMetadata(topic).length),
      );
      const claims = members.flatMap(({ memberId, memberMetadata }): MemberClaim[] => {
        const metadata = MemberMetadata.decode(memberMetadata);
        // A member with other topics is of another installation and must not decide on ours.
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

/** Data in another form, written by another version of the gate, counts as no claim. */
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
