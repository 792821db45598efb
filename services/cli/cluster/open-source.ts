/** Opens the log that a command reads: of the configured brokers, or of an embedded gate. */
import { openLog } from "../../process/directory/open-log.ts";
import { openCluster } from "../../process/open-cluster.ts";
import { namesCluster, openConfig } from "../../process/open-config.ts";
import type { Log, LogRecord } from "../../runtime/ports.ts";
import { quietLogger } from "../../runtime/quiet-logger.ts";
import type { Topic } from "../../runtime/topics.ts";
import type { AvroCodec } from "../../wire/codec.ts";
import type { Output, Terminal } from "../output/terminal.ts";

export type SourceOptions = {
  readonly config: string | undefined;
  /** Undefined: the brokers. */
  readonly dataDir: string | undefined;
  /** The data directory to use if no brokers are configured. */
  readonly dataDirElse?: string;
};

export type Source = {
  readonly log: Log;
  readonly codec: AvroCodec;
  /** The name of a topic in this log. */
  readonly nameOf: (topic: Topic) => string;
  readonly skipped: SkippedRecords;
  close(): Promise<void>;
};

type Opened = Pick<Source, "log" | "codec" | "close"> & {
  /** Undefined: the log has no topic names of its own. */
  readonly names?: { readonly [topic in Topic]: string };
};

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 8 * 1024 * 1024 };

/** @throws ExitError, PipelineError if there is no such log, or it cannot be reached. */
export async function openSource(
  options: SourceOptions,
  { err }: Pick<Terminal, "err">,
): Promise<Source> {
  const opened = await open(options);
  const { log, codec, names } = opened;
  const nameOf = (topic: Topic): string => names?.[topic] ?? topic;
  const skipped = new SkippedRecords(err, nameOf);
  return { log, codec, nameOf, skipped, close: () => opened.close() };
}

/** The data directory to read; undefined: the brokers. */
export function dataDirOf({ config, dataDir, dataDirElse }: SourceOptions): string | undefined {
  if (dataDir !== undefined) return dataDir;
  return namesCluster(config) ? undefined : dataDirElse;
}

async function open(options: SourceOptions): Promise<Opened> {
  const dataDir = dataDirOf(options);
  if (dataDir !== undefined) return openLog(dataDir);
  return await openCluster(openConfig(options.config, []), new Map(), quietLogger);
}

/** The records of one partition, from an offset or its beginning to its current end. */
export async function* recordsFrom(
  { log, codec }: Source,
  topic: Topic,
  partition: number,
  from?: number,
): AsyncGenerator<LogRecord> {
  let offset = from ?? (await log.startOffset(topic, partition));
  const end = await log.endOffset(topic, partition);
  while (offset < end) {
    const { records, nextOffset } = await log.read(topic, partition, offset, READ_LIMITS);
    for (const record of records) {
      await codec.pending?.(record.value);
      yield record;
    }
    if (nextOffset <= offset) return;
    offset = nextOffset;
  }
}

/** All records of a topic up to its current end, partition after partition. */
export async function* recordsOf(
  source: Source,
  topic: Topic,
): AsyncGenerator<{ readonly partition: number; readonly record: LogRecord }> {
  for (let partition = 0; partition < source.log.partitions; partition += 1) {
    for await (const record of recordsFrom(source, topic, partition)) yield { partition, record };
  }
}

/** Position of a record. */
type RecordPosition = {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
};

/** Skips records that cannot be read; reports each of them once. */
class SkippedRecords {
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
    await this.note(`${position}: the record is skipped, and its content is missing here: ${why}`);
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
