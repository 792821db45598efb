import type { ClusterLink } from "../../adapters/kafka/cluster-link.ts";
import { readRange } from "../../adapters/kafka/records/read-range.ts";
import { WIRE_FORMAT } from "../../wire/framing.ts";

/** Transaction markers take offsets between the records. */
const LOOK_AT_OFFSETS = 10;

/**
 * Whether the journal's first remaining record can only be read with a schema registry.
 * @param link connected.
 */
export async function needsRegistry(
  link: ClusterLink,
  journal: { readonly name: string; readonly partitions: number },
): Promise<boolean> {
  const { name, partitions } = journal;
  for (let partition = 0; partition < partitions; partition += 1) {
    const from = await link.offset(name, partition, "earliest");
    const end = await link.offset(name, partition, "stable");
    const to = Math.min(end, from + LOOK_AT_OFFSETS);
    const { records } = await readRange(link, { name, partition, from, to, committed: true });
    const value = records.find((one) => one.value !== null)?.value ?? null;
    if (value !== null) return WIRE_FORMAT.matches(Buffer.from(value));
  }
  return false;
}
