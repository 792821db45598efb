/** The log that a command reads: of the brokers in the configuration, or of an embedded gate. */
import type { AvroCodec } from "../../adapters/avro/codec.ts";
import { quietLogger } from "../../adapters/log/quiet-logger.ts";
import type { Log, LogRecord } from "../../runtime/ports.ts";
import type { Topic } from "../../runtime/topics.ts";
import { openCluster } from "../../sdk/open-cluster.ts";
import { namesCluster, openConfig } from "../process/open-config.ts";
import { openLog } from "./open-log.ts";

export type SourceOptions = {
  readonly config: string | undefined;
  /** Undefined: the brokers. */
  readonly dataDir: string | undefined;
  /** In place of the brokers where nothing names any. */
  readonly dataDirElse?: string;
};

export type Source = {
  readonly log: Log;
  readonly codec: AvroCodec;
  close(): Promise<void>;
};

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 8 * 1024 * 1024 };

/** @throws CliError, PipelineError where there is no such log, or it cannot be reached. */
export async function openSource(options: SourceOptions): Promise<Source> {
  const { config, dataDir, dataDirElse } = options;
  if (dataDir !== undefined) return openLog(dataDir);
  if (dataDirElse !== undefined && !namesCluster(config)) return openLog(dataDirElse);
  return await openCluster(openConfig(config, []), new Map(), quietLogger);
}

/** The values of one partition, from its first record up to what is there now. */
export async function* valuesFrom(
  source: Source,
  topic: Topic,
  partition: number,
): AsyncGenerator<Uint8Array> {
  for await (const { value } of recordsFrom(source, topic, partition)) {
    if (value !== null) yield value;
  }
}

/** The records of one partition, from an offset or the first there is, up to what is there now. */
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

/** What a topic holds now, partition after partition. */
export async function* recordsOf(
  source: Source,
  topic: Topic,
): AsyncGenerator<{ readonly partition: number; readonly record: LogRecord }> {
  for (let partition = 0; partition < source.log.partitions; partition += 1) {
    for await (const record of recordsFrom(source, topic, partition)) yield { partition, record };
  }
}
