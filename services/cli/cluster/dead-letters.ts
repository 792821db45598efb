/** `callgate dlq`: lists dead letters (inputs that could not be decided) and replays them. */
import { EXIT_OK, type ExitCode, environmentError, usageError } from "../../process/exit-error.ts";
import { PoisonRecordError } from "../../runtime/errors.ts";
import type { DeadLetter, LogRecord, OutgoingRecord } from "../../runtime/ports.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted, printable } from "../output/text.ts";
import { openSource, recordsOf, type Source, type SourceOptions } from "./open-source.ts";

export type DlqOptions = SourceOptions & { readonly json: boolean };

type Letter = {
  /** `partition/offset` in the topic of dead letters. */
  readonly name: string;
  readonly record: LogRecord;
  readonly letter: DeadLetter;
};

const TEXT_CHARACTERS = 60;
const ONE_RECORD = { recordsMax: 1, bytesMax: 1 };
const decoder = new TextDecoder();

export async function listDeadLetters(options: DlqOptions, terminal: Terminal): Promise<ExitCode> {
  return await withLetters(options, terminal, async (letters) => {
    if (options.json) {
      await terminal.out.write(`${JSON.stringify({ deadLetters: letters.map(plain) })}\n`);
      return;
    }
    if (letters.length === 0) {
      await terminal.out.write("there are no dead letters\n");
      return;
    }
    const rows = letters.map(({ name, record, letter: { at, code, message } }) => [
      name,
      new Date(record.appendTimeMs).toISOString(),
      `${at.topic}/${at.partition}/${at.offset}`,
      code,
      printable(message, TEXT_CHARACTERS),
    ]);
    const titles = ["letter", "since", "input", "code", "why"];
    await terminal.out.write(textTable(titles, rows, terminal.out.style));
  });
}

export async function showDeadLetter(
  name: string,
  options: DlqOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  return await withLetters(options, terminal, async (letters) => {
    const letter = pick(letters, name);
    await terminal.out.write(options.json ? `${JSON.stringify(plain(letter))}\n` : render(letter));
  });
}

/**
 * Appends the inputs again, unchanged, to their topic and partition, where they are decided as new
 * inputs. If neither a letter nor the log has an input any more, the others are still appended, and
 * an ExitError lists the missing one.
 * @param names empty: all of them.
 */
export async function replayDeadLetters(
  names: readonly string[],
  options: DlqOptions & { readonly dryRun: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const { dryRun, json } = options;
  const without: string[] = [];
  await withLetters(options, terminal, async (letters, source) => {
    const picked = names.length === 0 ? letters : names.map((name) => pick(letters, name));
    const inputs = await inputsOf(picked, source);
    without.push(...picked.map(({ name }) => name).filter((name) => !inputs.has(name)));
    if (!dryRun && inputs.size > 0) await source.log.append([...inputs.values()]);
    const would = dryRun ? " would be" : "";
    const text = json
      ? JSON.stringify({ dryRun, replayed: [...inputs.keys()], withoutValue: without })
      : `${counted(inputs.size, "input")}${would} appended again`;
    await terminal.out.write(`${text}\n`);
  });
  if (without.length === 0) return EXIT_OK;
  const why = "neither the letter nor the topic that it came from has the input any more";
  throw environmentError(`left out ${without.join(", ")}: ${why}; propose again`);
}

async function withLetters(
  options: SourceOptions,
  terminal: Terminal,
  work: (letters: readonly Letter[], source: Source) => Promise<void>,
): Promise<ExitCode> {
  const source = await openSource(options, terminal);
  try {
    const letters: Letter[] = [];
    for await (const { partition, record } of recordsOf(source, "deadLetters")) {
      const letter = await letterOf(source, partition, record);
      if (letter === null) continue;
      letters.push({ name: `${partition}/${record.offset}`, record, letter });
    }
    await work(letters, source);
  } finally {
    await source.close();
  }
  return EXIT_OK;
}

/** Null: the record is no dead letter, which was reported. */
async function letterOf(
  { codec, skipped }: Source,
  partition: number,
  { offset, value }: LogRecord,
): Promise<DeadLetter | null> {
  const position = { topic: "deadLetters", partition, offset } as const;
  if (value === null) {
    await skipped.tell(position, "it is empty");
    return null;
  }
  try {
    return codec.decodeDeadLetter(value);
  } catch (error) {
    if (!(error instanceof PoisonRecordError)) throw error;
    await skipped.tell(position, error.message);
    return null;
  }
}

function pick(letters: readonly Letter[], name: string): Letter {
  const match = letters.find((letter) => letter.name === name);
  if (match !== undefined) return match;
  throw usageError(`${name}: there is no such dead letter; callgate dlq list shows them`);
}

/** Inputs by letter name, for letters whose input still exists. */
async function inputsOf(letters: readonly Letter[], source: Source) {
  const inputs = new Map<string, OutgoingRecord>();
  for (const letter of letters) {
    const record = await inputOf(letter, source);
    if (record !== null) inputs.set(letter.name, record);
  }
  return inputs;
}

/**
 * A letter without its input gives the input's offset: sensitive or large inputs are not written
 * twice.
 */
async function inputOf({ letter }: Letter, { log }: Source): Promise<OutgoingRecord | null> {
  const { topic, partition, offset, appendTimeMs } = letter.at;
  if (letter.value !== null) return { topic, partition, key: letter.key, value: letter.value };
  if (offset < (await log.startOffset(topic, partition))) return null;
  if (offset >= (await log.endOffset(topic, partition))) return null;
  const [record] = (await log.read(topic, partition, offset, ONE_RECORD)).records;
  // The topic was deleted and created again, so the offset has another record.
  if (record?.offset !== offset || record.appendTimeMs !== appendTimeMs) return null;
  if (record.unreadable !== undefined) return null;
  return { topic, partition, key: record.key, value: record.value };
}

function plain({ name, record, letter }: Letter): object {
  const { at, code, message, key, value } = letter;
  return {
    ...{ letter: name, appendTimeMs: record.appendTimeMs, at, code, message },
    key: key === null ? null : decoder.decode(key),
    valueBase64: value === null ? null : Buffer.from(value).toString("base64"),
  };
}

function render({ name, record, letter }: Letter): string {
  const { at, code, message, key, value } = letter;
  const rows: (readonly [string, string])[] = [
    ["letter", name],
    ["since", new Date(record.appendTimeMs).toISOString()],
    ["input", `${at.topic}, partition ${at.partition}, offset ${at.offset}`],
    ["code", code],
    ["why", message],
    ["key", key === null ? "none" : printable(decoder.decode(key), 1_000)],
    ["value", value === null ? "not in the letter, see input" : `${value.length} bytes`],
    ...(value === null ? [] : [["text", printable(decoder.decode(value), 1_000)] as const]),
  ];
  return rows.map(([label, text]) => `${label.padEnd(6)}  ${text}\n`).join("");
}
