/**
 * An executor under test as a supervisor runs it: one process group that is started, killed, paused
 * and started again. A process that ends by itself is started again, as a supervisor would.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { environmentWith } from "../../adapters/config/read-env.ts";

const OUTPUT_CHARACTERS_MAX = 4_000;
const RESTART_AFTER_MS = 500;
const ENDS_WITHIN_MS = 15_000;

export class ExecutorProcess {
  readonly #command: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #onKilled: () => Promise<void>;
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #isWanted = false;
  #output = "";
  /** How often it has ended by itself. */
  ownEnds = 0;
  kills = 0;

  constructor(parts: {
    readonly command: string;
    readonly variables: Readonly<Record<string, string>>;
    /** Awaited when it was killed, and has ended. */
    readonly onKilled: () => Promise<void>;
  }) {
    this.#command = parts.command;
    this.#variables = parts.variables;
    this.#onKilled = parts.onKilled;
  }

  /** The last lines that it wrote. */
  get output(): string {
    return this.#output.trimEnd();
  }

  start(): void {
    this.#isWanted = true;
    // A group of its own: the command may be a shell or a launcher with children.
    const child = spawn(this.#command, {
      shell: true,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: environmentWith(this.#variables),
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.#output = `${this.#output}${chunk}`.slice(-OUTPUT_CHARACTERS_MAX);
      });
    }
    child.on("error", (error) => {
      this.#output += error.message;
    });
    this.#ended = new Promise((resolve) => {
      child.once("close", () => {
        resolve();
        this.#closed(child);
      });
    });
  }

  async kill(): Promise<void> {
    this.kills += 1;
    await this.#end("SIGKILL");
    await this.#onKilled();
  }

  async restart(): Promise<void> {
    await this.kill();
    this.start();
  }

  pause(): void {
    this.#signal("SIGSTOP");
  }

  resume(): void {
    this.#signal("SIGCONT");
  }

  /** Asks it to end, and kills it when it takes too long. */
  async stop(): Promise<void> {
    this.resume();
    const timer = setTimeout(() => this.#signal("SIGKILL"), ENDS_WITHIN_MS);
    await this.#end("SIGTERM");
    clearTimeout(timer);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    this.#signal(signal);
    await this.#ended;
    this.#child = null;
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group has ended already.
    }
  }

  #closed(child: ChildProcess): void {
    if (!this.#isWanted || this.#child !== child) return;
    this.ownEnds += 1;
    setTimeout(() => {
      if (this.#isWanted && this.#child === child) this.start();
    }, RESTART_AFTER_MS);
  }
}
