// Starts and ends the gates under test, each in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SharedBench } from "./shared-bench.ts";

const LOOK_EVERY_MS = 50;

export type GateParts = {
  readonly bench: SharedBench;
  /** The compiled program beside this file. */
  readonly gateChild: string;
  readonly nodeArgs: readonly string[];
  readonly redisUrl: string;
};

export type Checkpoints = "redis" | "none";

export type Gate = {
  readonly ended: Promise<void>;
  kill(signal?: NodeJS.Signals): void;
  stop(): Promise<void>;
  /** Processor time so far, s. */
  cpuSeconds(): Promise<number>;
};

export class Gates {
  readonly env: NodeJS.ProcessEnv;
  readonly #parts: GateParts;
  readonly #running = new Set<Gate>();

  constructor(parts: GateParts, env: Readonly<Record<string, string>>) {
    this.#parts = parts;
    this.env = { ...process.env, ...env };
  }

  /** Resolves when it decides. */
  async start(checkpoints: Checkpoints): Promise<Gate> {
    const { gateChild, nodeArgs, redisUrl, bench } = this.#parts;
    const redis = checkpoints === "redis" ? { REDIS_URL: redisUrl } : {};
    const errors = openSync(join(bench.work, "gates.log"), "a");
    const child = spawn(process.execPath, [...nodeArgs, gateChild], {
      env: { ...this.env, ...redis },
      stdio: ["ignore", "pipe", errors],
    });
    const kill = (signal: NodeJS.Signals = "SIGKILL"): void => void child.kill(signal);
    const end = (): void => kill();
    process.once("exit", end);
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const gate: Gate = {
      ended,
      kill,
      stop: async () => {
        child.kill("SIGTERM");
        await ended;
      },
      cpuSeconds: () => askCpuSeconds(child),
    };
    this.#running.add(gate);
    void ended.then(() => {
      process.off("exit", end);
      this.#running.delete(gate);
    });
    let said = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    for (;;) {
      if (said.includes('"ready"')) return gate;
      if (child.exitCode !== null) throw new Error(`a gate ended: ${said}; see ${bench.work}`);
      await sleep(LOOK_EVERY_MS);
    }
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((gate) => gate.stop()));
  }
}

async function askCpuSeconds(child: ChildProcess): Promise<number> {
  let said = "";
  const hear = (text: string): void => {
    said += text;
  };
  child.stdout?.on("data", hear);
  child.kill("SIGUSR2");
  try {
    for (;;) {
      const line = said.split("\n").find((each) => each.includes('"used"'));
      if (line !== undefined) return (JSON.parse(line) as { cpu_s: number }).cpu_s;
      if (child.exitCode !== null) throw new Error(`a gate ended: ${said}`);
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    child.stdout?.off("data", hear);
  }
}
