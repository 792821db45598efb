// Runs a gate as an operator does: the built command with a configuration file, ended by signals.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { COMMAND } from "./build.ts";

const READY_WITHIN_MS = 90_000;
const LINES_MAX = 400;

let count = 0;

export class GateProcess {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  #port = 0;
  readonly ended: Promise<number | null>;

  constructor(directory: string, config: object, command: readonly string[] = ["gate"]) {
    count += 1;
    const file = join(directory, `process-${count}.json`);
    writeFileSync(file, JSON.stringify(config));
    this.#child = spawn(process.execPath, [COMMAND, ...command, "--config", file], {
      cwd: directory,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const kill = () => this.#child.kill("SIGKILL");
    process.once("exit", kill);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    }
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code) => {
        process.removeListener("exit", kill);
        resolve(code);
      });
    });
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** The last lines of its log. */
  get log(): string {
    return this.#lines.join("\n");
  }

  says(text: string): boolean {
    return this.#lines.some((line) => line.includes(text));
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /** Ends it with SIGTERM; resolves to its exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill("SIGTERM");
    return await this.ended;
  }

  async isReady(): Promise<boolean> {
    if (this.#port === 0) return false;
    try {
      return (await fetch(`http://127.0.0.1:${this.#port}/readyz`)).ok;
    } catch {
      return false;
    }
  }

  async ready(): Promise<void> {
    for (const untilMs = Date.now() + READY_WITHIN_MS; Date.now() < untilMs; ) {
      if (await this.isReady()) return;
      if (!this.isRunning) throw new Error(`a gate ended with ${this.exitCode}:\n${this.log}`);
      await sleep(100);
    }
    throw new Error(`a gate was not ready in time:\n${this.log}`);
  }

  #take(text: string): void {
    for (const line of text.split("\n")) {
      if (line === "") continue;
      this.#lines.push(line);
      const port = /"port":(\d+),"msg":"starting"/.exec(line)?.[1];
      if (port !== undefined) this.#port = Number(port);
    }
    this.#lines.splice(0, Math.max(0, this.#lines.length - LINES_MAX));
  }
}
