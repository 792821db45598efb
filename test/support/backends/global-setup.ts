// Vitest runs this in its main process, once for each project; all projects share the parts of the
// run.
import { createServer, type Server } from "node:http";
import type { TestProject } from "vitest/node";
import type { PartName } from "./backend.ts";
import { RunParts } from "./run-parts.ts";

type Run = { readonly url: string; readonly close: () => Promise<void>; users: number };

const HOST = "127.0.0.1";
const PARTS: readonly PartName[] = ["kafka", "redis", "registry"];

/** Each project loads this file anew, so shared values are properties of the process. */
const SHARED = Symbol.for("callgate.test-backends");
type Shared = { [SHARED]?: Promise<Run> | undefined };

async function startRun(): Promise<Run> {
  const parts = new RunParts();
  const server = createServer((request, response) => {
    const part = PARTS.find((name) => request.url === `/${name}`);
    const answer = part === undefined ? Promise.reject(new Error("no such part")) : parts.ask(part);
    answer.then(
      (partAnswer) => response.end(JSON.stringify(partAnswer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listen(server);
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await parts.close();
  };
  return { url: `http://${HOST}:${port}`, close, users: 0 };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, HOST, () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("no port was given"));
      else resolve(address.port);
    });
  });
}

export async function setup(project: TestProject): Promise<void> {
  const shared = globalThis as Shared;
  shared[SHARED] ??= startRun();
  const run = await shared[SHARED];
  run.users += 1;
  project.provide("backendsUrl", run.url);
}

export async function teardown(): Promise<void> {
  const shared = globalThis as Shared;
  const run = await shared[SHARED];
  if (run === undefined) return;
  run.users -= 1;
  if (run.users > 0) return;
  shared[SHARED] = undefined;
  await run.close();
}
