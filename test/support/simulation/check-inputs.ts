// Judges what a journal says of its inputs: each is decided once, those of a conversation in their
// order, and the positions to go on from pass over none.
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { INPUT_TOPICS, type InputTopic } from "../../../services/runtime/topics.ts";
import type { TopicReader } from "./check-topics.ts";

/** The offsets that have a journal record. */
export type DecidedOffsets = Readonly<Record<InputTopic, ReadonlySet<number>>>;

/** One topic as far as its inputs are decided. Offsets may have gaps: the log writes markers. */
class CheckedTopic {
  readonly decided = new Set<number>();
  /** Where the journal goes on. */
  next = 0;
  readonly #offsets: readonly number[];
  readonly #existing: ReadonlySet<number>;
  readonly #lastOf = new Map<string, number>();
  #firstOpen = 0;
  #end = 0;

  constructor(offsets: readonly number[]) {
    this.#offsets = offsets;
    this.#existing = new Set(offsets);
  }

  /** @param conversation null: the input is of none. */
  decide(offset: number, conversation: string | null): string | null {
    if (!this.#existing.has(offset)) return `${offset} is decided, and is not in the topic`;
    if (this.decided.has(offset)) return `${offset} is decided a second time`;
    this.decided.add(offset);
    this.#end = Math.max(this.#end, offset + 1);
    while (this.decided.has(this.#offsets[this.#firstOpen] ?? -1)) this.#firstOpen += 1;
    if (conversation === null) return null;
    const last = this.#lastOf.get(conversation) ?? -1;
    this.#lastOf.set(conversation, offset);
    return last < offset ? null : `${offset} is decided after ${last} of its conversation`;
  }

  goOn(next: number): string | null {
    const before = this.next;
    this.next = next;
    const firstOpen = this.#offsets[this.#firstOpen] ?? Number.POSITIVE_INFINITY;
    if (next < before) return `${next} is before ${before}`;
    if (next > Math.min(firstOpen, this.#end)) return `${next} passes over ${firstOpen}`;
    const isAhead = firstOpen < this.#end;
    return isAhead || next === this.#end ? null : `${next} is not the end, ${this.#end}`;
  }
}

/** Adds what is wrong to the problems; returns the inputs that have a record. */
export function checkInputs(
  read: TopicReader,
  journal: readonly JournalRecord[],
  problems: string[],
): DecidedOffsets {
  const topicOf = (topic: InputTopic) => new CheckedTopic(read(topic).map(({ offset }) => offset));
  const topics = {
    proposals: topicOf("proposals"),
    results: topicOf("results"),
    verdicts: topicOf("verdicts"),
  };
  for (const { seq, input, next } of journal) {
    if (input.type !== "idle") {
      const { topic, offset } = input.at;
      const problem = topics[topic].decide(offset, conversationOf(input));
      if (problem !== null) problems.push(`seq ${seq}: ${topic} ${problem}`);
    }
    for (const topic of INPUT_TOPICS) {
      const problem = topics[topic].goOn(next[topic]);
      if (problem !== null) problems.push(`seq ${seq}: next of ${topic}: ${problem}`);
    }
  }
  return {
    proposals: topics.proposals.decided,
    results: topics.results.decided,
    verdicts: topics.verdicts.decided,
  };
}

function conversationOf(input: JournalRecord["input"]): string | null {
  if (input.type !== "decided" || input.input.type === "tick") return null;
  const { tenantId, conversationId } = input.input;
  return `${tenantId}/${conversationId}`;
}
