/**
 * Checks the files that the configuration names: this process can read those that it needs. TLS
 * files without TLS, or a certificate without its key, are problems and not ignored.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { isSet, type ReadKey as Read, type UnplacedProblem as Unplaced } from "./config-problem.ts";

/** Returns the problem of a file; undefined: none. */
type CheckFile = (file: string) => string | undefined;

type FileCheck = {
  readonly key: string;
  /** Only a process that needs this key reads the files; absent: every process does. */
  readonly neededBy?: string;
  readonly check: CheckFile;
};

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;

const PROCESS_FILES: readonly FileCheck[] = [
  { key: "policy.files", neededBy: "policy.files", check: checkReadable },
  { key: "executor.handlers", neededBy: "executor.handlers", check: checkReadable },
  { key: "gate.proposalKeys", neededBy: "policy.files", check: checkReadable },
];

const TLS_LEAVES = ["caFile", "certFile", "keyFile", "passphrase", "passphraseFile", "serverName"];
const TLS_SECTIONS = ["kafka.ssl", "registry.ssl", "redis.ssl"] as const;

type TlsSection = (typeof TLS_SECTIONS)[number];

/** @param needs keys that this process requires, such as `policy.files`. */
export function findFileProblems(read: Read, needs: readonly string[]): readonly Unplaced[] {
  const tlsProblems = TLS_SECTIONS.flatMap((section) => [
    ...findUnusedTls(read, section),
    ...findHalfPairs(read, section),
  ]);
  const problems = [...PROCESS_FILES, ...tlsFiles(read)]
    .filter(({ neededBy }) => neededBy === undefined || needs.includes(neededBy))
    .flatMap(({ key, check }) =>
      filesOf(read, key).flatMap(([at, file]) => {
        const message = check(file);
        return message === undefined ? [] : [{ key: at, message, remedy: "check the path" }];
      }),
    );
  const pairProblems = usedTls(read).flatMap((section) => checkPair(read, section));
  return [...tlsProblems, ...problems, ...pairProblems];
}

function usedTls(read: Read): readonly TlsSection[] {
  return TLS_SECTIONS.filter((section) => usesTlsFiles(read, section));
}

/** True where this process will read the files of a section. */
function usesTlsFiles(read: Read, section: TlsSection): boolean {
  if (section === "registry.ssl") return /^https:/i.test(String(read("registry.url")));
  return read(`${section}.enabled`) === true;
}

/** An explicit `enabled: false` says that the files are meant for later, so it is no problem. */
function findUnusedTls(read: Read, section: TlsSection): readonly Unplaced[] {
  const key = TLS_LEAVES.map((leaf) => `${section}.${leaf}`).find((leaf) => isSet(read(leaf)));
  if (key === undefined || usesTlsFiles(read, section)) return [];
  if (section === "registry.ssl") {
    if (!/^http:/i.test(String(read("registry.url")))) return [];
    const message = "has no effect, since `registry.url` does not begin with `https`";
    return [{ key, message, remedy: "write `https://` there, or remove the key" }];
  }
  if (isSet(read(`${section}.enabled`))) return [];
  const message = `has no effect without \`${section}.enabled\``;
  return [{ key, message, remedy: "set that to true, or to false where no TLS is meant" }];
}

function findHalfPairs(read: Read, section: TlsSection): readonly Unplaced[] {
  const [cert, key, passphrase] = ["certFile", "keyFile", "passphrase"].map(
    (leaf) => `${section}.${leaf}`,
  ) as [string, string, string];
  const pairs = [
    [cert, key],
    [key, cert],
    [passphrase, key],
  ] as const;
  return pairs
    .filter(([one, other]) => isSet(read(one)) && !isSet(read(other)))
    .map(([one, other]) => {
      const message = `is set without \`${other}\``;
      return { key: one, message, remedy: "set both, or remove it" };
    });
}

function tlsFiles(read: Read): readonly FileCheck[] {
  return usedTls(read).flatMap((section) => [
    { key: `${section}.caFile`, check: checkPem(CERTIFICATE, "certificate") },
    { key: `${section}.certFile`, check: checkPem(CERTIFICATE, "certificate") },
    { key: `${section}.keyFile`, check: checkPem(PRIVATE_KEY, "private key") },
  ]);
}

/** Tries certificate and key as a connection does. `checkPem` reports a file that is neither. */
function checkPair(read: Read, section: TlsSection): readonly Unplaced[] {
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
    const message = `does not match \`${section}.certFile\`: ${reasonOf(error)}`;
    const remedy = "set the key of that certificate, and the passphrase of the key";
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

/** OpenSSL's reason alone, since the messages of its errors begin with numbers. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return String(Reflect.get(error, "reason") ?? error.message);
}

function filesOf(read: Read, key: string): readonly (readonly [string, string])[] {
  const value = read(key);
  const all = Array.isArray(value) ? value.map((one, at) => [`${key}.${at}`, one]) : [[key, value]];
  return all.filter((one): one is [string, string] => typeof one[1] === "string" && one[1] !== "");
}

function checkReadable(file: string): string | undefined {
  return withReadErrors(file, () => {
    if (statSync(file).isDirectory()) return `\`${file}\` cannot be read: it is a directory`;
    accessSync(file, constants.R_OK);
    return undefined;
  });
}

function checkPem(pattern: RegExp, what: string): CheckFile {
  return (file) =>
    withReadErrors(file, () =>
      pattern.test(readFileSync(file, "utf8")) ? undefined : `\`${file}\` has no ${what} as PEM`,
    );
}

function withReadErrors(file: string, check: () => string | undefined): string | undefined {
  try {
    return check();
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    const why = code === "ENOENT" ? "there is no such file" : String(code);
    return `\`${file}\` cannot be read: ${why}`;
  }
}
