/** TLS that is asked for by halves: what is not used is told, and not left out in silence. */
import type { ConfigProblem } from "./config-problem.ts";

type Unplaced = Omit<ConfigProblem, "where">;
type Read = (name: string) => unknown;

const LEAVES = ["caFile", "certFile", "keyFile", "passphrase", "passphraseFile", "serverName"];

export const TLS_SECTIONS = ["kafka.ssl", "registry.ssl", "redis.ssl"] as const;

export type TlsSection = (typeof TLS_SECTIONS)[number];

export function tlsProblems(read: Read): readonly Unplaced[] {
  return TLS_SECTIONS.flatMap((section) => [...unused(read, section), ...halves(read, section)]);
}

/** Whether the files of a section will be read. */
export function usesTlsFiles(read: Read, section: TlsSection): boolean {
  if (section === "registry.ssl") return /^https:/i.test(String(read("registry.url")));
  return read(`${section}.enabled`) === true;
}

/** Who writes `enabled: false` beside its files has said what is meant. */
function unused(read: Read, section: TlsSection): readonly Unplaced[] {
  const key = LEAVES.map((leaf) => `${section}.${leaf}`).find((leaf) => isSet(read(leaf)));
  if (key === undefined || usesTlsFiles(read, section)) return [];
  if (section === "registry.ssl") {
    if (!/^http:/i.test(String(read("registry.url")))) return [];
    const message = "is of no use where `registry.url` is not of `https`";
    return [{ key, message, remedy: "write `https://` there, or remove the key" }];
  }
  if (isSet(read(`${section}.enabled`))) return [];
  const message = `is of no use without \`${section}.enabled\``;
  return [{ key, message, remedy: "set that to true, or to false where no TLS is meant" }];
}

function halves(read: Read, section: TlsSection): readonly Unplaced[] {
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
      const message = `is given without \`${other}\``;
      return { key: one, message, remedy: "give both, or remove it" };
    });
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
