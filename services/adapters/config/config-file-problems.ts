/** Files that the configuration names: those that this process will read can be read now. */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { ConfigProblem } from "./config-problem.ts";
import { TLS_SECTIONS, type TlsSection, usesTlsFiles } from "./config-tls.ts";
import { secretFrom } from "./secret-file.ts";
import { readSecretText } from "./secret-files.ts";

type Unplaced = Omit<ConfigProblem, "where">;
type Read = (name: string) => unknown;
/** What is wrong with a file; undefined: nothing. */
type Look = (file: string) => string | undefined;

type FileCheck = {
  readonly key: string;
  /** The key that a process needs where it reads these files; undefined: each reads them. */
  readonly neededBy?: string;
  readonly look: Look;
};

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;

const OF_PROCESSES: readonly FileCheck[] = [
  { key: "policy.files", neededBy: "policy.files", look: readable },
  { key: "secret.previousFiles", neededBy: "secret.value", look: holdsSecret },
  { key: "executor.handlers", neededBy: "executor.handlers", look: readable },
  { key: "gate.proposalKeys", neededBy: "policy.files", look: readable },
];

/** @param needs keys that this process cannot do without, `policy.files`. */
export function findFileProblems(read: Read, needs: readonly string[]): readonly Unplaced[] {
  const problems = [...OF_PROCESSES, ...ofTls(read)]
    .filter(({ neededBy }) => neededBy === undefined || needs.includes(neededBy))
    .flatMap(({ key, look }) =>
      filesOf(read, key).flatMap(([at, file]) => {
        const message = look(file);
        return message === undefined ? [] : [{ key: at, message, remedy: "check the path" }];
      }),
    );
  return [...problems, ...usedTls(read).flatMap((section) => pairProblems(read, section))];
}

function usedTls(read: Read): readonly TlsSection[] {
  return TLS_SECTIONS.filter((section) => usesTlsFiles(read, section));
}

function ofTls(read: Read): readonly FileCheck[] {
  return usedTls(read).flatMap((section) => [
    { key: `${section}.caFile`, look: holds(CERTIFICATE, "certificate") },
    { key: `${section}.certFile`, look: holds(CERTIFICATE, "certificate") },
    { key: `${section}.keyFile`, look: holds(PRIVATE_KEY, "private key") },
  ]);
}

/** As a connection takes them. Where one of the files is none, that is told by itself. */
function pairProblems(read: Read, section: TlsSection): readonly Unplaced[] {
  const [cert, key] = [
    pemOf(read(`${section}.certFile`), CERTIFICATE),
    pemOf(read(`${section}.keyFile`), PRIVATE_KEY),
  ];
  const passphrase = read(`${section}.passphrase`) ?? "";
  const isUnread = passphrase === "" && typeof read(`${section}.passphraseFile`) === "string";
  if (cert === undefined || key === undefined || isUnread) return [];
  try {
    createSecureContext({ cert, key, passphrase: String(passphrase) });
    return [];
  } catch (error) {
    const message = `makes no pair with \`${section}.certFile\`: ${reasonOf(error)}`;
    const remedy = "give the key of that certificate, and the passphrase that opens it";
    return [{ key: `${section}.keyFile`, message, remedy }];
  }
}

function pemOf(file: unknown, pattern: RegExp): string | undefined {
  if (typeof file !== "string") return undefined;
  try {
    const text = readFileSync(file, "utf8");
    return pattern.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** OpenSSL's word alone: the message of its errors begins with numbers. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return String(Reflect.get(error, "reason") ?? error.message);
}

function filesOf(read: Read, key: string): readonly (readonly [string, string])[] {
  const value = read(key);
  const all = Array.isArray(value) ? value.map((one, at) => [`${key}.${at}`, one]) : [[key, value]];
  return all.filter((one): one is [string, string] => typeof one[1] === "string" && one[1] !== "");
}

function readable(file: string): string | undefined {
  return tried(file, () => {
    if (statSync(file).isDirectory()) return `\`${file}\` cannot be read: it is a directory`;
    accessSync(file, constants.R_OK);
    return undefined;
  });
}

function holds(pattern: RegExp, what: string): Look {
  return (file) =>
    tried(file, () =>
      pattern.test(readFileSync(file, "utf8")) ? undefined : `\`${file}\` holds no ${what} as PEM`,
    );
}

function holdsSecret(file: string): string | undefined {
  const text = readSecretText(file);
  if (!text.ok) return text.message;
  const secret = secretFrom(text.text);
  return secret.ok ? undefined : `\`${file}\`: ${secret.problem.message}`;
}

function tried(file: string, look: () => string | undefined): string | undefined {
  try {
    return look();
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    const why = code === "ENOENT" ? "there is no such file" : String(code);
    return `\`${file}\` cannot be read: ${why}`;
  }
}
