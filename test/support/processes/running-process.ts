// Runs a long-running command as an operator does: in a process of its own, configured by a file, and
// watched through its health server and its log.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { uniqueName } from "../backends/unique-name.ts";
import { startCallgate } from "../run-callgate.ts";

const LOOK_EVERY_MS = 50;
const STARTS_WITHIN_MS = 200_000;

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** Gone after the test. */
function testDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "callgate-process-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The settings that the processes of one test share; each test has its own groups. */
export function sharedConfig(brokers: readonly string[], names: TopicNames) {
  const unique = uniqueName("p");
  return {
    kafka: { brokers, topics: names, app: unique, group: `${unique}-gate` },
    executor: { group: `${unique}-executor` },
    http: { port: 0 },
    log: { level: "debug" },
    secret: { value: "a secret that is long enough" },
  };
}

export class RunningProcess {
  readonly child: ChildProcess;
  /** The directory of its configuration and files, in which it runs. */
  readonly directory: string;
  readonly lines: LogLine[] = [];
  stderr = "";
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;

  constructor(args: readonly string[], directory: string) {
    this.directory = directory;
    this.child = startCallgate(args, { cwd: directory });
    this.ended = new Promise((resolve) => {
      this.child.once("close", (code, signal) => resolve({ code, signal }));
    });
    let rest = "";
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      const parts = `${rest}${chunk}`.split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) this.lines.push(JSON.parse(line) as LogLine);
    });
    this.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.stderr += chunk;
    });
    onTestFinished(async () => {
      this.child.kill("SIGKILL");
      await this.ended;
    });
  }

  /** The first line with that message. */
  async line(msg: string, withinMs = STARTS_WITHIN_MS): Promise<LogLine> {
    for (const untilMs = Date.now() + withinMs; ; ) {
      const match = this.lines.find((line) => line.msg === msg);
      if (match !== undefined) return match;
      if (Date.now() > untilMs || this.child.exitCode !== null) {
        throw new Error(`no line \`${msg}\`: ${JSON.stringify(this.lines)} ${this.stderr}`);
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  async get(path: string): Promise<Response> {
    const { port } = await this.line("starting");
    return fetch(`http://127.0.0.1:${String(port)}${path}`);
  }

  /** Resolves when it is ready. */
  async ready(): Promise<void> {
    for (const untilMs = Date.now() + STARTS_WITHIN_MS; ; ) {
      const response = await this.get("/readyz");
      if (response.ok) return;
      if (Date.now() > untilMs || this.child.exitCode !== null) {
        const details = `${await response.text()} ${JSON.stringify(this.lines)} ${this.stderr}`;
        throw new Error(`not ready: ${details}`);
      }
      await sleep(LOOK_EVERY_MS);
    }
  }
}

/** Writes the configuration and further files, and starts the command. */
export function startProcess(
  command: readonly string[],
  config: object,
  files: Readonly<Record<string, string>> = {},
): RunningProcess {
  const directory = testDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const file = join(directory, "callgate.json");
  writeFileSync(file, JSON.stringify(config));
  return new RunningProcess([...command, "--config", file], directory);
}
