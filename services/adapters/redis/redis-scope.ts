/** The journal that the keys of a gate in Redis are about. */
export type RedisScope = {
  /** Of the Kafka cluster. */
  readonly clusterId: string;
  /** The journal topic's name on the cluster, which stays when the topic is created anew. */
  readonly topic: string;
  /** Consumer group of the gate. */
  readonly group: string;
};

/**
 * The key of a partition's checkpoint. It names the cluster and the topic, so that environments on
 * one Redis cannot meet. The part in braces chooses the node of a Redis cluster.
 */
export function checkpointKey(scope: RedisScope, partition: number): string {
  return `cg:${suffixOf(scope, partition)}`;
}

/** The key of how far a partition's journal had come; on the same node as the checkpoint. */
export function headKey(scope: RedisScope, partition: number): string {
  return `cg:head:${suffixOf(scope, partition)}`;
}

function suffixOf({ clusterId, topic, group }: RedisScope, partition: number): string {
  return `{${group}.${partition}}:${clusterId}:${topic}`;
}
