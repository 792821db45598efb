/**
 * The keys with which a running gate verifies tokens: read at start, and again when their file
 * changes or the process gets SIGHUP. A file with problems never replaces one without.
 */
import type { Config } from "../adapters/config/config-schema.ts";
import { TokenAuthority } from "../adapters/tokens/token-authority.ts";
import { readTokenKeys, type TokenKeys } from "../adapters/tokens/token-keys.ts";
import { ExitError, usageError } from "../process/exit-error.ts";
import { readTextFile } from "../process/text-files.ts";
import { type ReloadReason, WatchedFiles } from "../process/watched-files.ts";
import type { Logger } from "../runtime/ports.ts";

export class WatchedKeys {
  readonly authority: TokenAuthority;
  readonly #file: string;
  readonly #logger: Logger;
  readonly #watched: WatchedFiles;

  private constructor(file: string, logger: Logger, watched: WatchedFiles, keys: TokenKeys) {
    this.#file = file;
    this.#logger = logger;
    this.#watched = watched;
    this.authority = new TokenAuthority(keys);
  }

  /** Null where proposals are trusted. @throws ExitError: the keys cannot be read. */
  static async open(config: Config["gate"], logger: Logger): Promise<WatchedKeys | null> {
    const { proposals, proposalKeys: file } = config;
    if (proposals === "trusted") return null;
    if (file === undefined) throw usageError("gate.proposalKeys is missing: name a JWKS file");
    const watched = await WatchedFiles.open([file]);
    const opened = new WatchedKeys(file, logger, watched, await readKeys(file));
    logger.info("accepts signed proposals only", { keyIds: opened.authority.keyIds.join(" ") });
    return opened;
  }

  watch(): void {
    this.#watched.watch((reason) => this.#load(reason));
  }

  close(): Promise<void> {
    return this.#watched.close();
  }

  async #load(why: ReloadReason): Promise<void> {
    try {
      this.authority.setKeys(await readKeys(this.#file));
      const keyIds = this.authority.keyIds.join(" ");
      this.#logger.info("verifies tokens with other keys", { why, keyIds });
    } catch (error) {
      const problem = error instanceof ExitError ? error.lines.join("; ") : String(error);
      const keyIds = this.authority.keyIds.join(" ");
      this.#logger.error("the new keys for tokens were not accepted", { why, problem, keyIds });
    }
  }
}

/** @throws ExitError that says what is wrong with the file, and discloses nothing of its keys. */
async function readKeys(file: string): Promise<TokenKeys> {
  const text = await readTextFile(file).catch((error: unknown) => {
    throw error instanceof ExitError ? usageError(`gate.proposalKeys: ${error.message}`) : error;
  });
  const result = await readTokenKeys(text);
  if (result.ok) return result.keys;
  throw usageError(`gate.proposalKeys: \`${file}\`: ${result.message}`);
}
