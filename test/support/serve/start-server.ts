// Runs `callgate serve` as a user does: in a process of its own, on any free port.
import type { ChildProcess } from "node:child_process";
import { type CallgateRun, endOf, startCallgate } from "../run-callgate.ts";

export interface StartedServer {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it printed when it started. */
  readonly message: string;
  readonly end: Promise<CallgateRun>;
  stop(signal?: NodeJS.Signals): Promise<CallgateRun>;
}

/** @param args options beside `--listen` */
export async function startServer(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<StartedServer> {
  const child = startCallgate(["serve", "--listen", "127.0.0.1:0", ...args], options);
  const end = endOf(child);
  let message = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (chunk: string) => {
      message += chunk;
      const started = /^callgate: serving (http:\/\/[^,\s]+).*\n.*\n/.exec(message);
      if (started?.[1] !== undefined) resolve(started[1]);
    });
    void end.then(({ stderr }) => reject(new Error(`the server ended: ${stderr}`)), reject);
  });
  const stop = (signal: NodeJS.Signals = "SIGTERM"): Promise<CallgateRun> => {
    child.kill(signal);
    return end;
  };
  return { url, child, message, end, stop };
}
