import type { Topic } from "../../runtime/topics.ts";
import type { Output } from "../output/terminal.ts";

/** Position of a record. */
export type RecordPosition = {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
};

/** Skips records that cannot be read; reports each of them once. */
export class PassedBy {
  readonly #err: Output;
  readonly #nameOf: (topic: Topic) => string;
  readonly #notes = new Set<string>();
  /** Topics and partitions with skipped records. */
  readonly #within = new Set<string>();

  constructor(err: Output, nameOf: (topic: Topic) => string) {
    this.#err = err;
    this.#nameOf = nameOf;
  }

  /** @param why without a full stop. */
  async tell({ topic, partition, offset }: RecordPosition, why: string): Promise<void> {
    this.#within.add(`${topic}/${partition}`);
    const position = `${this.#nameOf(topic)}, partition ${partition}, offset ${offset}`;
    await this.note(
      `${position}: the record is passed by, and what it says is missing here: ${why}`,
    );
  }

  /** Whether a record of this partition was skipped. */
  isWithin(topic: Topic, partition: number): boolean {
    return this.#within.has(`${topic}/${partition}`);
  }

  /** Prints once on stderr what the skipped records mean for the output. */
  async note(text: string): Promise<void> {
    if (this.#notes.has(text)) return;
    this.#notes.add(text);
    await this.#err.write(`callgate: ${text}\n`);
  }
}
