/** `callgate dlq`: inputs that could not be decided, and how to give them back. */
import type { DeadLetter, LogRecord, OutgoingRecord } from "../../runtime/ports.ts";
import { usageError } from "../output/cli-error.ts";
import { counted } from "../output/counted.ts";
import { EXIT_OK, type ExitCode } from "../output/exit-codes.ts";
import { printable } from "../output/printable.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { openSource, recordsOf, type Source, type SourceOptions } from "./open-source.ts";

export type DlqOptions = SourceOptions & { readonly json: boolean };

type Letter = {
  /** `partition/offset` in the topic of dead letters. */
  readonly name: string;
  readonly record: LogRecord;
  readonly letter: DeadLetter;
};

const TEXT_CHARACTERS = 60;
const decoder = new TextDecoder();

export async function listDeadLetters(options: DlqOptions, terminal: Terminal): Promise<ExitCode> {
  return await withLetters(options, async (letters) => {
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
  return await withLetters(options, async (letters) => {
    const found = pick(letters, name);
    await terminal.out.write(options.json ? `${JSON.stringify(plain(found))}\n` : render(found));
  });
}

/**
 * Appends the inputs again, as they were, to their topic and partition: they are decided as new inputs.
 * @param names empty: all of them.
 */
export async function replayDeadLetters(
  names: readonly string[],
  options: DlqOptions & { readonly dryRun: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  return await withLetters(options, async (letters, { log }) => {
    const picked = names.length === 0 ? letters : names.map((name) => pick(letters, name));
    const records = picked.flatMap((one) => inputOf(one) ?? []);
    const without = picked.filter((one) => inputOf(one) === null).map(({ name }) => name);
    if (!options.dryRun && records.length > 0) await log.append(records);
    if (options.json) {
      const replayed = picked.map(({ name }) => name).filter((name) => !without.includes(name));
      const { dryRun } = options;
      await terminal.out.write(`${JSON.stringify({ dryRun, replayed, withoutValue: without })}\n`);
      return;
    }
    const would = options.dryRun ? " would be" : "";
    await terminal.out.write(`${counted(records.length, "input")}${would} appended again\n`);
    if (without.length > 0) {
      const why = "their input was not kept (too large): propose again";
      await terminal.err.write(`callgate: left out ${without.join(", ")}: ${why}\n`);
    }
  });
}

async function withLetters(
  options: SourceOptions,
  work: (letters: readonly Letter[], source: Source) => Promise<void>,
): Promise<ExitCode> {
  const source = await openSource(options);
  try {
    const letters: Letter[] = [];
    for await (const { partition, record } of recordsOf(source, "deadLetters")) {
      if (record.value === null) continue;
      const letter = source.codec.decodeDeadLetter(record.value);
      letters.push({ name: `${partition}/${record.offset}`, record, letter });
    }
    await work(letters, source);
  } finally {
    await source.close();
  }
  return EXIT_OK;
}

function pick(letters: readonly Letter[], name: string): Letter {
  const found = letters.find((letter) => letter.name === name);
  if (found !== undefined) return found;
  throw usageError(`${name}: there is no such dead letter; callgate dlq list names them`);
}

function inputOf({ letter: { at, key, value } }: Letter): OutgoingRecord | null {
  if (value === null) return null;
  return { topic: at.topic, partition: at.partition, key, value };
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
    ["value", value === null ? "not kept" : `${value.length} bytes`],
    ["text", value === null ? "" : printable(decoder.decode(value), 1_000)],
  ];
  return rows.map(([label, text]) => `${label.padEnd(6)}  ${text}\n`).join("");
}
