/** The key `secrets`: several secrets side by side, each a map with its value or a file. */
import { resolve } from "node:path";
import { isSet, type UnplacedProblem as Unplaced } from "./config-problem.ts";
import { secretFrom } from "./secret-file.ts";
import { readSecretText } from "./secret-files.ts";

type Entry = { value?: unknown; valueFile?: unknown; id?: unknown; from?: unknown };

/** Makes the paths of the list absolute. */
export function resolveSecretFiles(values: { [name: string]: unknown }, directory: string): void {
  for (const entry of entriesOf(values["secrets"])) {
    const { valueFile } = entry;
    if (typeof valueFile === "string") entry.valueFile = resolve(directory, valueFile);
  }
}

/** Reads the files of the list into the values. Returns the problems. */
export function fillSecretList(values: { [name: string]: unknown }): readonly Unplaced[] {
  return entriesOf(values["secrets"]).flatMap((entry, at) => {
    const { value, valueFile } = entry;
    if (typeof valueFile !== "string") return [];
    const key = `secrets.${at}.valueFile`;
    if (value !== undefined) {
      return [{ key, message: "is set together with `value`", remedy: "keep one of the two" }];
    }
    const read = readSecretText(valueFile);
    if (read.ok) entry.value = read.text;
    return read.ok ? [] : [{ key, message: read.message, remedy: "check the path and its rights" }];
  });
}

/** What contradicts itself in the list, or with `secret`. */
export function checkSecrets(secrets: unknown, secret: unknown): readonly Unplaced[] {
  const entries = entriesOf(secrets);
  if (entries.length === 0) return [];
  const together = {
    key: "secrets",
    message: "is set together with `secret`",
    remedy: "move that secret into the list",
  };
  const noneYet = {
    key: "secrets",
    message: "has no secret that is in force from the start",
    remedy: "leave `from` out of the oldest",
  };
  const isStarted = entries.some(({ from }) => !isSet(from));
  return [
    ...(isSet(secret) ? [together] : []),
    ...(isStarted ? [] : [noneYet]),
    ...entries.flatMap((entry, at) => problemsOf(entry, `secrets.${at}`)),
    ...repeated(entries, ({ id }) => id, "id", "give each secret an id of its own"),
    ...repeated(
      entries,
      ({ from }) => (typeof from === "string" ? Date.parse(from) : "the start"),
      "from",
      "let each secret begin at a time of its own",
    ),
  ];
}

function problemsOf({ value, valueFile }: Entry, key: string): readonly Unplaced[] {
  if (!isSet(value) && !isSet(valueFile)) {
    return [{ key, message: "has no value", remedy: "set `value` or `valueFile`" }];
  }
  if (typeof value !== "string") return [];
  const made = secretFrom(value);
  return made.ok ? [] : [{ key, message: made.problem.message, remedy: "make it longer" }];
}

function repeated(
  entries: readonly Entry[],
  read: (entry: Entry) => unknown,
  member: string,
  remedy: string,
): readonly Unplaced[] {
  return entries.flatMap((entry, at) => {
    const first = entries.findIndex((other) => read(other) === read(entry));
    const message = `has the same \`${member}\` as secret ${first + 1} of the list`;
    return first === at ? [] : [{ key: `secrets.${at}`, message, remedy }];
  });
}

function entriesOf(list: unknown): readonly Entry[] {
  const all: readonly unknown[] = Array.isArray(list) ? list : [];
  return all.filter((one): one is Entry => typeof one === "object" && one !== null);
}
