/**
 * Files that a running process loads again when they change, or when it gets SIGHUP.
 *
 * WATCH-1 loads never overlap: each waits for the previous one.
 * WATCH-2 a change is loaded once the files have stayed the same from one look to the next, so that
 *    a file that is written in parts is not loaded in between.
 */
import { stat } from "node:fs/promises";

const LOOK_EVERY_MS = 1_000;

export type ReloadReason = "changed" | "SIGHUP";

export type WatchOptions = {
  /** False where only SIGHUP loads the files again. Default: true. */
  readonly looks?: boolean;
  /** False in a program of somebody else, which ends by SIGHUP. Default: true. */
  readonly hearsHangUp?: boolean;
};

export class WatchedFiles {
  readonly #files: readonly string[];
  /** Of the files that were loaded last, and of those that the latest look saw. */
  #loaded: string;
  #seen: string;
  #reload: (reason: ReloadReason) => Promise<void> = async () => undefined;
  #loading: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  readonly #hangUp = (): void => this.#queue("SIGHUP");

  private constructor(files: readonly string[], stamp: string) {
    this.#files = files;
    this.#loaded = stamp;
    this.#seen = stamp;
  }

  /** To be called before the files are read, so that no later change is missed. */
  static async open(files: readonly string[]): Promise<WatchedFiles> {
    return new WatchedFiles(files, await stampOf(files));
  }

  /** @param reload must not reject. */
  watch(reload: (reason: ReloadReason) => Promise<void>, options: WatchOptions = {}): void {
    const { looks = true, hearsHangUp = true } = options;
    this.#reload = reload;
    if (hearsHangUp) process.on("SIGHUP", this.#hangUp);
    if (looks) this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /**
   * Whether the files are still those that the load was asked for. To be asked after they were
   * read: if not, what was read may be half of a file, and another load follows.
   */
  async areUnchanged(): Promise<boolean> {
    return (await stampOf(this.#files)) === this.#loaded;
  }

  /** Resolves when no load is under way any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    process.off("SIGHUP", this.#hangUp);
    await this.#loading;
  }

  async #look(): Promise<void> {
    const stamp = await stampOf(this.#files);
    const isSettled = stamp === this.#seen;
    this.#seen = stamp;
    // WATCH-2
    if (!isSettled || stamp === this.#loaded) return;
    this.#loaded = stamp;
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
