// Starts a Sentinel that watches one master and decides alone.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChild, removeAtEnd, startChild } from "../../../infra/local/child.js";
import { findFreePorts } from "../../../infra/local/free-ports.js";

export type LocalSentinel = { readonly address: string; stop(): Promise<void> };

export async function startSentinel(name: string, masterPort: number): Promise<LocalSentinel> {
  const folder = mkdtempSync(join(tmpdir(), "callgate-sentinel-"));
  removeAtEnd(folder);
  const [port = 0] = await findFreePorts(1);
  const config = join(folder, "sentinel.conf");
  const lines = [
    "bind 127.0.0.1",
    `port ${port}`,
    `dir ${folder}`,
    `sentinel monitor ${name} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 5000`,
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const logFile = join(folder, "sentinel.log");
  const identity = await startChild({
    command: "redis-server",
    args: [config, "--sentinel"],
    logFile,
  });
  return { address: `127.0.0.1:${port}`, stop: () => endChild(identity) };
}
