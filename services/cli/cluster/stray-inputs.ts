/**
 * Finds producers that hash keys in another way than Kafka's own clients. The gate forwards what they
 * send, at the cost of a second commit, so nobody would notice them otherwise.
 */
import type { ClusterLink } from "../../adapters/kafka/cluster-link.ts";
import { readRange } from "../../adapters/kafka/records/read-range.ts";
import { partitionOf } from "../../runtime/partitioner.ts";
import type { LogRecord, TopicFacts } from "../../runtime/ports.ts";
import { isInputTopic } from "../../runtime/topics.ts";

/** How many of the latest offsets of a partition are read. */
const LATEST = 200;
const TENANTS_SHOWN = 5;

type Stray = { readonly name: string; seen: number; stray: number; readonly tenants: Set<string> };

/** One line for each input topic with such records, with the fix. @param link connected. */
export async function findStrayInputs(
  link: ClusterLink,
  facts: readonly TopicFacts[],
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { topic, name, partitions } of facts) {
    if (!isInputTopic(topic)) continue;
    const stray: Stray = { name, seen: 0, stray: 0, tenants: new Set() };
    for (let partition = 0; partition < partitions; partition += 1) {
      for (const record of await readLatest(link, name, partition)) {
        count(stray, record, partition, partitions);
      }
    }
    if (stray.stray > 0) lines.push(describe(stray));
  }
  return lines;
}

async function readLatest(
  link: ClusterLink,
  name: string,
  partition: number,
): Promise<readonly LogRecord[]> {
  const to = await link.offset(name, partition, "stable");
  const from = Math.max(await link.offset(name, partition, "earliest"), to - LATEST);
  return (await readRange(link, { name, partition, from, to, committed: true })).records;
}

/** Records without a key are left out: ticks have none, and a payload names its conversation. */
function count(stray: Stray, { key }: LogRecord, partition: number, partitions: number): void {
  if (key === null) return;
  stray.seen += 1;
  if (partitionOf(key, partitions) === partition) return;
  stray.stray += 1;
  const text = Buffer.from(key).toString("utf8");
  const slash = text.indexOf("/");
  stray.tenants.add(slash < 0 ? "none in the key" : text.slice(0, slash));
}

function describe({ name, seen, stray, tenants }: Stray): string {
  const shown = [...tenants].slice(0, TENANTS_SHOWN).join(", ");
  const more = tenants.size > TENANTS_SHOWN ? " and others" : "";
  return (
    `\`${name}\`: ${stray} of its latest ${seen} records with a key came on another partition than that of the key ` +
    `(tenants: ${shown}${more}), so each was decided by a second commit: set \`partitioner=murmur2_random\` in their ` +
    "producers if they use librdkafka (Python, Go, C#, kcat), and the key `tenantId/conversationId`"
  );
}
