/**
 * Files that a running process loads again when they change, or when it gets SIGHUP. Loads never
 * overlap: each waits for the previous one.
 */
import { stat } from "node:fs/promises";

const LOOK_EVERY_MS = 1_000;

export type ReloadReason = "changed" | "SIGHUP";

export class WatchedFiles {
  readonly #files: readonly string[];
  #stamp: string;
  #reload: (reason: ReloadReason) => Promise<void> = async () => undefined;
  #loading: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  readonly #hangUp = (): void => this.#queue("SIGHUP");

  private constructor(files: readonly string[], stamp: string) {
    this.#files = files;
    this.#stamp = stamp;
  }

  /** To be called before the files are read, so that no later change is missed. */
  static async open(files: readonly string[]): Promise<WatchedFiles> {
    return new WatchedFiles(files, await stampOf(files));
  }

  /** @param reload must not reject. @param looks false where only SIGHUP loads the files again. */
  watch(reload: (reason: ReloadReason) => Promise<void>, looks = true): void {
    this.#reload = reload;
    process.on("SIGHUP", this.#hangUp);
    if (looks) this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Resolves when no load is under way any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    process.off("SIGHUP", this.#hangUp);
    await this.#loading;
  }

  async #look(): Promise<void> {
    const stamp = await stampOf(this.#files);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#queue("changed");
  }

  #queue(reason: ReloadReason): void {
    this.#loading = this.#loading.then(() => this.#reload(reason));
  }
}

/** A text that changes when a file changes, also where a link is set to another file. */
async function stampOf(files: readonly string[]): Promise<string> {
  const missing = { ino: 0, size: 0, mtimeMs: 0 };
  const stats = await Promise.all(files.map((file) => stat(file).catch(() => missing)));
  return stats.map(({ ino, size, mtimeMs }) => `${ino}/${size}/${mtimeMs}`).join(" ");
}
