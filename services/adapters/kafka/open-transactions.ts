import type { ClusterLink } from "./cluster-link.ts";
import { readRange } from "./read-range.ts";

/** A transaction that nobody has ended yet; readers of committed records wait before it. */
export type OpenTransaction = {
  /** The topic's real name. */
  readonly name: string;
  readonly partition: number;
  /** Its first record. */
  readonly offset: number;
  /** When that was written, epoch ms. */
  readonly sinceMs: number;
  readonly producerId: number;
};

/**
 * The oldest open transaction of each topic-partition.
 * @param link connected.
 * @param topics by their real names, each with as many partitions as it has.
 */
export async function findOpenTransactions(
  link: ClusterLink,
  topics: readonly { readonly name: string; readonly partitions: number }[],
): Promise<readonly OpenTransaction[]> {
  const open: OpenTransaction[] = [];
  for (const { name, partitions } of topics) {
    for (let partition = 0; partition < partitions; partition += 1) {
      const from = await link.offset(name, partition, "stable");
      const to = await link.offset(name, partition, "latest");
      if (from >= to) continue;
      const stretch = { name, partition, from, to: from + 1, committed: false };
      const { records, producers } = await readRange(link, stretch);
      const [first] = records;
      const [producerId = -1] = producers;
      if (first === undefined) continue;
      open.push({ name, partition, offset: from, sinceMs: first.appendTimeMs, producerId });
    }
  }
  return open;
}

/** For whoever runs the cluster: what it holds up, and how to end it. */
export function describeOpen(open: OpenTransaction, brokers: readonly string[]): string {
  const { name, partition, offset, sinceMs, producerId } = open;
  return (
    `\`${name}\` partition ${partition}: producer ${producerId} has had a transaction open since ` +
    `${new Date(sinceMs).toISOString()}, and nothing from ${offset} on is read: let its writer end it; ` +
    "where that is gone for good, kafka-transactions.sh --bootstrap-server " +
    `${brokers.join(",")} abort --topic ${name} --partition ${partition} --start-offset ${offset}`
  );
}
