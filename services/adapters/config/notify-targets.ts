/** The key `notify.targets`: files of its secrets, and checks across its members. */
import { resolve } from "node:path";
import { isSet, type UnplacedProblem as Unplaced } from "./config-problem.ts";
import { readSecretText } from "./secret-files.ts";

const TARGETS_MAX = 32;
const HEADERS_MAX = 16;
/** Headers that say what the body is, or how it is sent. */
const RESERVED_HEADER =
  /^(?:host|connection|content-.*|transfer-encoding|expect|upgrade|te|trailer|user-agent|webhook-.*)$/i;

type Entry = { [name: string]: unknown };
type Values = { [name: string]: unknown };

const FILES = [
  ["urlFile", "url"],
  ["secretFile", "secret"],
] as const;

/** Makes the paths of the list absolute. */
export function resolveTargetFiles(values: Values, directory: string): void {
  for (const entry of entriesOf(listOf(values))) {
    for (const [member] of FILES) {
      const file = entry[member];
      if (typeof file === "string") entry[member] = resolve(directory, file);
    }
  }
}

/** Reads the files of the list into the values. Returns the problems. */
export function fillTargets(values: Values): readonly Unplaced[] {
  return entriesOf(listOf(values)).flatMap((entry, at) =>
    FILES.flatMap(([member, of]) => fill(entry, member, of, `notify.targets.${at}.${member}`)),
  );
}

function fill(entry: Entry, member: string, of: string, key: string): readonly Unplaced[] {
  const file = entry[member];
  if (typeof file !== "string") return [];
  if (isSet(entry[of])) {
    return [{ key, message: `is set together with \`${of}\``, remedy: "keep one of the two" }];
  }
  const read = readSecretText(file);
  if (!read.ok) return [{ key, message: read.message, remedy: "check the path and its rights" }];
  // While one secret replaces another, the file has a line for each.
  const lines = read.text.split(/\r?\n/).filter((line) => line !== "");
  entry[of] = lines.length === 1 ? lines[0] : lines;
  return [];
}

/** What is missing in the list, or contradicts itself. */
export function checkTargets(list: unknown): readonly Unplaced[] {
  const entries = entriesOf(list);
  const first = entries[TARGETS_MAX];
  const tooMany = {
    key: `notify.targets.${TARGETS_MAX}`,
    message: `is more than the ${TARGETS_MAX} that there may be`,
    remedy: "let one receiver pass on to several",
  };
  return [
    ...(first === undefined ? [] : [tooMany]),
    ...entries.flatMap((entry, at) => [
      ...problemsOf(entry, `notify.targets.${at}`),
      ...repeated(entries, at),
    ]),
  ];
}

function problemsOf(entry: Entry, key: string): readonly Unplaced[] {
  return [
    ...urlProblems(entry, key),
    ...headerProblems(entry, key),
    ...(needsSecret(entry)
      ? [
          {
            key,
            message: "has no secret, so a receiver cannot tell your events from forged ones",
            remedy: "set `secret` or `secretFile`",
          },
        ]
      : []),
  ];
}

/** A receiver of Slack's form knows its sender by the address, and ignores signatures. */
function needsSecret({ form, secret, secretFile }: Entry): boolean {
  return form !== "slack" && !isSet(secret) && !isSet(secretFile);
}

function urlProblems({ url, urlFile, allowPrivate }: Entry, key: string): readonly Unplaced[] {
  if (!isSet(url) && !isSet(urlFile)) {
    return [{ key, message: "has no address", remedy: "set `url` or `urlFile`" }];
  }
  if (typeof url !== "string" || !URL.canParse(url)) return [];
  const at = isSet(urlFile) ? `${key}.urlFile` : `${key}.url`;
  const { protocol, username, password, hash, hostname } = new URL(url);
  if (username !== "" || password !== "") {
    const remedy = "remove them, and set `headers: { authorization: … }`";
    return [{ key: at, message: "has credentials", remedy }];
  }
  if (hash !== "") return [{ key: at, message: "has a fragment (`#…`)", remedy: "remove it" }];
  if (protocol !== "http:" || (allowPrivate === true && isLoopback(hostname))) return [];
  const message = "is not encrypted";
  const remedy =
    "write `https://`; `http://` is for this machine alone (`127.0.0.1`, `localhost`), with `allowPrivate: true`";
  return [{ key: at, message, remedy }];
}

/** Whether the host is this machine by its name; the addresses of `localhost` are checked later. */
function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function headerProblems({ headers }: Entry, key: string): readonly Unplaced[] {
  if (typeof headers !== "object" || headers === null) return [];
  const names = Object.keys(headers);
  const reserved = names.filter((name) => RESERVED_HEADER.test(name));
  const many = names.length > HEADERS_MAX ? [`are more than ${HEADERS_MAX}`] : [];
  const set = reserved.map((name) => `has \`${name}\`, which Callgate sets itself`);
  return [...set, ...many].map((message) => ({
    ...{ key: `${key}.headers`, message, remedy: "remove it" },
  }));
}

function repeated(entries: readonly Entry[], at: number): readonly Unplaced[] {
  const id = entries[at]?.["id"];
  const first = entries.findIndex((other) => other["id"] === id);
  if (id === undefined || first === at) return [];
  const message = `has the same \`id\` as target ${first + 1} of the list`;
  return [{ key: `notify.targets.${at}`, message, remedy: "give each target an id of its own" }];
}

function listOf({ notify }: Values): unknown {
  return isMap(notify) ? notify["targets"] : undefined;
}

function entriesOf(list: unknown): readonly Entry[] {
  return (Array.isArray(list) ? (list as readonly unknown[]) : []).filter(isMap);
}

function isMap(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
