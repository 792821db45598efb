/**
 * The keys that verify tokens, of a running gate: read at start, and again when their file changes or the
 * process gets SIGHUP. A file with problems never takes the place of one without.
 */
import { readFile, stat } from "node:fs/promises";
import type { Config } from "../../adapters/config/config-schema.ts";
import { TokenAuthority } from "../../adapters/tokens/token-authority.ts";
import { readTokenKeys, type TokenKeys } from "../../adapters/tokens/token-keys.ts";
import type { Logger } from "../../runtime/ports.ts";
import { CliError, usageError } from "../output/cli-error.ts";

const LOOK_EVERY_MS = 1_000;

export class WatchedKeys {
  readonly authority: TokenAuthority;
  readonly #file: string;
  readonly #logger: Logger;
  #stamp: string;
  #timer: NodeJS.Timeout | undefined;
  #loading: Promise<void> = Promise.resolve();
  readonly #hangUp = (): void => this.#reload("SIGHUP");

  private constructor(file: string, logger: Logger, stamp: string, keys: TokenKeys) {
    this.#file = file;
    this.#logger = logger;
    this.#stamp = stamp;
    this.authority = new TokenAuthority(keys);
  }

  /** Null where proposals are trusted. @throws CliError: the keys cannot be read. */
  static async open(config: Config["gate"], logger: Logger): Promise<WatchedKeys | null> {
    const { proposals, proposalKeys: file } = config;
    if (proposals === "trusted") return null;
    if (file === undefined) throw usageError("gate.proposalKeys is missing: name a JWKS file");
    const stamp = await stampOf(file);
    const opened = new WatchedKeys(file, logger, stamp, await readKeys(file));
    logger.info("takes signed proposals alone", { keyIds: opened.authority.keyIds.join(" ") });
    return opened;
  }

  watch(): void {
    process.on("SIGHUP", this.#hangUp);
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    process.off("SIGHUP", this.#hangUp);
    await this.#loading;
  }

  async #look(): Promise<void> {
    const stamp = await stampOf(this.#file);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#reload("changed");
  }

  #reload(why: string): void {
    this.#loading = this.#loading.then(() => this.#load(why));
  }

  async #load(why: string): Promise<void> {
    try {
      this.authority.setKeys(await readKeys(this.#file));
      const keyIds = this.authority.keyIds.join(" ");
      this.#logger.info("verifies tokens by other keys", { why, keyIds });
    } catch (error) {
      const problem = error instanceof CliError ? error.lines.join("; ") : String(error);
      const keyIds = this.authority.keyIds.join(" ");
      this.#logger.error("the keys of tokens were not taken over", { why, problem, keyIds });
    }
  }
}

/** @throws CliError that says what is wrong with the file, and nothing of its keys. */
async function readKeys(file: string): Promise<TokenKeys> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw usageError(
      `gate.proposalKeys: \`${file}\` cannot be read (${error.code}); check the path`,
    );
  });
  const result = await readTokenKeys(text);
  if (result.ok) return result.keys;
  throw usageError(`gate.proposalKeys: \`${file}\`: ${result.message}`);
}

async function stampOf(file: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(file).catch(() => ({ ino: 0, size: 0, mtimeMs: 0 }));
  return `${ino}/${size}/${mtimeMs}`;
}
