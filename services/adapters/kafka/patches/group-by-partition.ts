/**
 * Defect: kafkajs copies the list of a partition for each message that it adds to it: 3.6 s for
 * 20,000 messages.
 * Upstream: not reported; the fork https://github.com/ousiaresearch/charon has a fix of its own.
 * Patch: A replacement with the same contract groups the messages in one pass.
 */
type Partitioner<M> = (input: {
  readonly topic: string;
  readonly partitionMetadata: readonly unknown[];
  readonly message: M;
}) => number;

export function groupByPartition<M>(input: {
  readonly topic: string;
  readonly partitionMetadata: readonly unknown[];
  readonly messages: readonly M[];
  readonly partitioner: Partitioner<M>;
}): Record<string, M[]> {
  const { topic, partitionMetadata, messages, partitioner } = input;
  const groups: Record<string, M[]> = {};
  if (partitionMetadata.length === 0) return groups;
  for (const message of messages) {
    const partition = partitioner({ topic, partitionMetadata, message });
    const group = groups[partition];
    if (group === undefined) groups[partition] = [message];
    else group.push(message);
  }
  return groups;
}
