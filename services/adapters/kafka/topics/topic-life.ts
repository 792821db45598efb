/**
 * The topics that a group's offsets belong to: their ids and their number of partitions. Each
 * transaction records them, so that a gate notices before its first decision that topics were
 * deleted and created again, or got more partitions, while no gate ran.
 */
import { FatalError } from "../../../runtime/errors.ts";
import { INPUT_TOPICS, JOURNAL_TOPIC, type Topic } from "../../../runtime/topics.ts";
import type { TopicNames } from "./topic-names.ts";

export type TopicLife = {
  readonly partitions: number;
  /** Ids of the input topics and the journal. */
  readonly ids: ReadonlyMap<Topic, string>;
};

/** The topics as the log reads them now. */
export type LivingTopics = {
  readonly partitions: number;
  topicId(topic: Topic): string;
};

const VERSION = "callgate/1";
/** Recorded with every offset, so that each record identifies all of these topics. */
const TOGETHER: readonly Topic[] = [...INPUT_TOPICS, JOURNAL_TOPIC];

/** Writes the metadata of a recorded offset, about 180 bytes. */
export function writeTopicLife(topics: LivingTopics): string {
  const ids = TOGETHER.map((topic) => `${topic}=${topics.topicId(topic)}`);
  return [VERSION, `partitions=${topics.partitions}`, ...ids].join(" ");
}

/** Null where another program, or a version with another format, wrote the metadata. */
export function readTopicLife(metadata: string | null): TopicLife | null {
  const [version, ...fields] = (metadata ?? "").split(" ");
  if (version !== VERSION) return null;
  const values = new Map(fields.map((field) => field.split("=", 2) as [string, string]));
  const partitions = Number(values.get("partitions"));
  const ids = TOGETHER.flatMap((topic): [Topic, string][] => {
    const id = values.get(topic);
    return id === undefined ? [] : [[topic, id]];
  });
  if (!Number.isSafeInteger(partitions) || ids.length < TOGETHER.length) return null;
  return { partitions, ids: new Map(ids) };
}

/** @throws FatalError `log_mismatch` where the offsets belong to other topics. */
export function assertSameLife(recorded: TopicLife, now: LivingTopics, names: TopicNames): void {
  const remade = TOGETHER.find((topic) => recorded.ids.get(topic) !== now.topicId(topic));
  if (remade !== undefined) {
    throw new FatalError(
      "log_mismatch",
      `\`${names[remade]}\` was deleted and created again, or is in another cluster, since the gates ` +
        "last ran: journal and inputs no longer belong together. Restore the topic, or begin " +
        "anew with all topics under another prefix and with another group",
    );
  }
  if (recorded.partitions === now.partitions) return;
  throw new FatalError(
    "log_mismatch",
    `the topics had ${recorded.partitions} partitions when the gates last ran and now have ` +
      `${now.partitions}: conversations would change their partition and lose their decisions. ` +
      "Begin anew with that number under another prefix and with another group, once the open " +
      "conversations have ended; Kafka cannot reduce the number of partitions",
  );
}
