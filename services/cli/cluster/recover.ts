/** `callgate recover`: shows lost state, and accepts the loss on a person's word. */
import { readSecretText } from "../../adapters/config/secret-files.ts";
import {
  acceptDirectoryLosses,
  allLosses,
  type DirectoryLosses,
  findDirectoryLosses,
} from "../../process/directory/recover-directory.ts";
import { EXIT_FINDINGS, EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { openConfig } from "../../process/open-config.ts";
import { openSecrets } from "../../process/open-secrets.ts";
import { speakerOf } from "../approvals/give-verdict.ts";
import type { Terminal } from "../output/terminal.ts";
import { dataDirOf, type SourceOptions } from "./open-source.ts";
import { acceptClusterLosses, findClusterLosses } from "./recover-cluster.ts";

export type RecoverOptions = SourceOptions & {
  readonly json: boolean;
  readonly accept: boolean;
  readonly by: string | undefined;
  readonly reason: string | undefined;
  /** File of the secret, if the data directory has none of its own. */
  readonly secretFile: string | undefined;
};

type Recovery = {
  readonly losses: readonly string[];
  /** Accepts the losses. */
  accept(word: Word): Promise<void>;
  /** What happens after the acceptance. */
  readonly next: string;
};

type Word = { readonly by: string; readonly reason: string | null };

const NOTHING_LOST = "nothing is lost: the journal, its head and its secret belong together";

export async function runRecover(options: RecoverOptions, terminal: Terminal): Promise<ExitCode> {
  const by = speakerOf(options);
  const { losses, accept, next } = await findRecovery(options);
  const isAccepted = options.accept && losses.length > 0;
  if (isAccepted) await accept({ by, reason: options.reason ?? null });
  const { out } = terminal;
  if (options.json) await out.write(`${JSON.stringify({ losses, accepted: isAccepted })}\n`);
  else await out.write(render(losses, isAccepted ? `accepted by ${by}, ${next}` : null));
  return losses.length === 0 || isAccepted ? EXIT_OK : EXIT_FINDINGS;
}

async function findRecovery(options: RecoverOptions): Promise<Recovery> {
  const dataDir = dataDirOf(options);
  return dataDir === undefined ? onCluster(options) : inDirectory(dataDir, options);
}

async function inDirectory(dataDir: string, options: RecoverOptions): Promise<Recovery> {
  const secret = secretIn(options.secretFile);
  const directoryLosses: DirectoryLosses = await findDirectoryLosses(dataDir, secret);
  return {
    losses: allLosses(directoryLosses),
    accept: (word) => acceptDirectoryLosses(dataDir, directoryLosses, word, secret),
    next: "and written into the journal: the directory opens",
  };
}

async function onCluster({ config: file }: RecoverOptions): Promise<Recovery> {
  const config = openConfig(file, []);
  const hasSecret = config.secret.value !== undefined;
  const fingerprints = hasSecret ? openSecrets(config).fingerprints : null;
  const partitionLosses = await findClusterLosses(config, fingerprints);
  return {
    // `verify` reports unreadable records; accepting does not make them readable.
    losses: partitionLosses.flatMap(({ losses }) => losses),
    accept: (word) => acceptClusterLosses(config, partitionLosses, { ...word, atMs: Date.now() }),
    next: "which the gate writes into the journal: start it again",
  };
}

function secretIn(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const read = readSecretText(path);
  if (!read.ok) throw usageError(`--secret-file: ${read.message}; check the path`);
  return read.text;
}

function render(losses: readonly string[], accepted: string | null): string {
  if (losses.length === 0) return `${NOTHING_LOST}\n`;
  const lines = losses.map((loss) => `  ${loss}\n`).join("");
  const end =
    accepted ??
    "nothing was changed. Restore a backup of all of it together; or add --accept-loss to go on without " +
      "it: calls that ran might run again";
  return `${losses.length === 1 ? "this is" : "these are"} lost:\n${lines}${end}\n`;
}
