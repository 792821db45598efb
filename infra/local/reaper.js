// Ends the processes of its parent once the parent is gone, however it ended: then the pipe on stdin closes.
// Each line on stdin is JSON: { "pid", "startedAt" } of a process to end, { "letGo" } with the pid of a
// process that lives on, or { "folder" } to remove.
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { killIfSame } from "./process-identity.js";

/** @type {Map<number, { pid: number, startedAt: string }>} */
const processes = new Map();
/** @type {string[]} */
const folders = [];

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.folder !== undefined) folders.push(order.folder);
  else if (order.letGo !== undefined) processes.delete(order.letGo);
  else processes.set(order.pid, order);
}
for (const entry of processes.values()) killIfSame(entry, "SIGKILL");
for (const folder of folders) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
