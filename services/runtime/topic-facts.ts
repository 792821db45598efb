/** What a gate must know of its topics before it runs. */
import type { Topic } from "./topics.ts";

export type TopicFacts = {
  readonly topic: Topic;
  /** The topic's name on the servers. */
  readonly name: string;
  /** 0: there is no such topic. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly cleanupPolicy: string;
  /** -1: unlimited. */
  readonly retentionMs: number;
  /** -1: unlimited. */
  readonly retentionBytes: number;
  readonly minInsyncReplicas: number;
  /** `LogAppendTime` or `CreateTime`. */
  readonly timestampType: string;
  readonly messageBytesMax: number;
};

/** @throws RetryableError, FatalError as the ports in ports.ts do. */
export interface TopicInspector {
  /** One entry for each topic role, in the order of `TOPICS`. */
  describe(): Promise<readonly TopicFacts[]>;
}
