/** What a gate must know of its topics before it runs: told by whoever can ask the log's servers. */
import type { Topic } from "./topics.ts";

export type TopicFacts = {
  readonly topic: Topic;
  /** As the servers know it. */
  readonly name: string;
  /** 0: there is no such topic. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly cleanupPolicy: string;
  /** -1: without end. */
  readonly retentionMs: number;
  /** -1: without end. */
  readonly retentionBytes: number;
  readonly minInsyncReplicas: number;
  /** `LogAppendTime` or `CreateTime`. */
  readonly timestampType: string;
  readonly messageBytesMax: number;
};

/** @throws RetryableError, FatalError as the ports in ports.ts do. */
export interface TopicInspector {
  /** One entry for each role, in the order of `TOPICS`. */
  describe(): Promise<readonly TopicFacts[]>;
}
