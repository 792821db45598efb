// Ends what its parent has started once the parent is gone, however it went: the pipe on stdin closes.
// Each line on stdin is JSON: { "pid", "startedAt" } of a process to end, or { "folder" } to remove.
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { killIfSame } from "./process-identity.js";

/** @type {{ pid: number, startedAt: string }[]} */
const processes = [];
/** @type {string[]} */
const folders = [];

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.folder === undefined) processes.push(order);
  else folders.push(order.folder);
}
for (const entry of processes) killIfSame(entry, "SIGKILL");
for (const folder of folders) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
