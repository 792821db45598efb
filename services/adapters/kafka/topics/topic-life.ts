/**
 * Which topics a group's offsets were recorded for: their ids, and how many partitions they had. Recorded
 * with each transaction, so that a gate notices before its first decision that topics were deleted and made
 * again under the same name, or enlarged, while none was running.
 */
import { FatalError } from "../../../runtime/errors.ts";
import { INPUT_TOPICS, JOURNAL_TOPIC, type Topic } from "../../../runtime/topics.ts";
import type { TopicNames } from "./topic-names.ts";

export type TopicLife = {
  readonly partitions: number;
  /** Of the input topics and the journal. */
  readonly ids: ReadonlyMap<Topic, string>;
};

/** As the log knows them. */
export type LivingTopics = {
  readonly partitions: number;
  topicId(topic: Topic): string;
};

const VERSION = "callgate/1";
/** Each needs the others: which one was made anew is told by what was recorded for all. */
const TOGETHER: readonly Topic[] = [...INPUT_TOPICS, JOURNAL_TOPIC];

/** As the metadata of a recorded offset; some 180 bytes. */
export function writeTopicLife(topics: LivingTopics): string {
  const ids = TOGETHER.map((topic) => `${topic}=${topics.topicId(topic)}`);
  return [VERSION, `partitions=${topics.partitions}`, ...ids].join(" ");
}

/** Null: it was not written by us, or by a version that wrote something else. */
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

/** @throws FatalError `log_mismatch` where the topics are not those that the offsets are of. */
export function assertSameLife(recorded: TopicLife, now: LivingTopics, names: TopicNames): void {
  const remade = TOGETHER.find((topic) => recorded.ids.get(topic) !== now.topicId(topic));
  if (remade !== undefined) {
    throw new FatalError(
      "log_mismatch",
      `\`${names[remade]}\` was deleted and made again, or is that of another cluster, since the gates ` +
        "last ran: journal and inputs do not belong together any more. Restore the topic, or begin " +
        "anew with all topics under another prefix and with another group",
    );
  }
  if (recorded.partitions === now.partitions) return;
  throw new FatalError(
    "log_mismatch",
    `the topics had ${recorded.partitions} partitions when the gates last ran and have ` +
      `${now.partitions}: conversations would change their partition, and what was decided of them ` +
      "would be forgotten. Begin anew with that number under another prefix and with another group, " +
      "once the conversations under way have ended; topics cannot be made smaller again",
  );
}
