/** Converts our records to kafkajs' messages, and its answers to offsets. */
import type { IHeaders, Message, RecordMetadata, TopicMessages } from "kafkajs";
import { FatalError, RetryableError } from "../../../runtime/errors.ts";
import type { Appended, OutgoingRecord, RecordHeader } from "../../../runtime/ports.ts";
import type { Topic } from "../../../runtime/topics.ts";
import type { TopicNames } from "../topics/topic-names.ts";

/** Groups records by topic, in order; every message has a partition. */
export function toTopicMessages(
  records: readonly OutgoingRecord[],
  names: TopicNames,
): TopicMessages[] {
  const groups = new Map<string, Message[]>();
  for (const record of records) {
    const name = names[record.topic];
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [toMessage(record)]);
    else group.push(toMessage(record));
  }
  return [...groups].map(([topic, messages]) => ({ topic, messages }));
}

type Base = { next: number; readonly appendTimeMs: number };

/** Returns the offsets of the records of one send, in the order of the records. */
export class SentRecords {
  readonly #bases = new Map<string, Base>();
  readonly #names: TopicNames;
  /** By topic, for the partition of the latest call: nearly all records of a send have one. */
  #recent = new Map<Topic, Base>();
  #partition = -1;

  constructor(metadata: readonly RecordMetadata[], names: TopicNames) {
    this.#names = names;
    for (const { topicName, partition, baseOffset, logAppendTime } of metadata) {
      const appendTimeMs = Number(logAppendTime ?? -1);
      this.#bases.set(`${partition} ${topicName}`, { next: Number(baseOffset), appendTimeMs });
    }
  }

  /**
   * Must be called once for each record, in the order of the send.
   * @throws RetryableError `outcome_unknown` where no broker acknowledged the record's partition.
   */
  take({ topic, partition }: OutgoingRecord): Appended {
    if (partition !== this.#partition) {
      this.#recent = new Map();
      this.#partition = partition;
    }
    let base = this.#recent.get(topic);
    if (base === undefined) {
      base = this.#baseOf(topic, partition);
      this.#recent.set(topic, base);
    }
    const { next: offset, appendTimeMs } = base;
    base.next += 1;
    return { offset, appendTimeMs };
  }

  #baseOf(topic: Topic, partition: number): Base {
    const name = this.#names[topic];
    const base = this.#bases.get(`${partition} ${name}`);
    if (base === undefined) {
      const text = `\`${name}\` partition ${partition} did not acknowledge the records sent to it`;
      throw new RetryableError("outcome_unknown", text, { context: { topic: name, partition } });
    }
    if (base.appendTimeMs < 0) throw senderTimeError(name);
    return base;
  }
}

function senderTimeError(name: string): FatalError {
  return new FatalError(
    "log_mismatch",
    `\`${name}\` stores the sender's time: set message.timestamp.type=LogAppendTime on the topic`,
  );
}

/** Without a spread, which costs several times as much: this runs twice for each input. */
function toMessage({ key, value, headers, partition }: OutgoingRecord): Message {
  const message = { partition, key: key as Buffer | string | null, value: value as Buffer | null };
  if (headers === undefined || headers.length === 0) return message;
  return { ...message, headers: toHeaders(headers) };
}

function toHeaders(headers: readonly RecordHeader[]): IHeaders {
  const byName: Record<string, string | string[]> = {};
  for (const { name, value } of headers) {
    const before = byName[name];
    if (before === undefined) byName[name] = value;
    else byName[name] = [...(Array.isArray(before) ? before : [before]), value];
  }
  return byName;
}
