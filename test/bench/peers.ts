/**
 * Other engines and guards that judge a call in the agent's process, by the bench that lies beside
 * the repository: a copy of it, with the packages of its own lock. Each candidate's answers are
 * checked before it is timed.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sharedData } from "../support/shared-data.ts";
import type { BenchRow } from "./bench-row.ts";
import { lastLine, type Measurement } from "./children.ts";

export const BASELINE_ROW = "JSON.parse + canonicalize + sha256";

const COPY = "node_modules/.cache/callgate-bench/peers";
const STAMP = "installed-lock.json";
const INSTALL = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
const MESSAGE_CHARS_MAX = 400;

/** Candidates that are too slow for as many calls as the others, or write a file for each call. */
const FEWER_CALLS = ["kept in a file", "policy text per call"];
const CALLS = 20_000;
const CALLS_FEW = 500;
/** Takes minutes, since it also writes a file for each call of its warm-up. */
const LEFT_OUT = ["kept in a file"];

export type Peers =
  | { readonly ok: true; readonly directory: string; readonly names: readonly string[] }
  | { readonly ok: false; readonly missing: string };

/** Copies and installs the peers unless that was done for this lock. */
export async function installPeers(): Promise<Peers> {
  const data = sharedData("bench/inprocess");
  if (!data.available) return { ok: false, missing: data.reason };
  const directory = join(process.cwd(), COPY);
  const lock = readFileSync(join(data.path, "package-lock.json"), "utf8");
  if (!isInstalled(directory, lock)) {
    copyTree(data.path, directory);
    const problem = install(directory);
    if (problem !== null) return { ok: false, missing: `the peers' packages: ${problem}` };
    writeFileSync(join(directory, STAMP), lock);
  }
  const url = pathToFileURL(join(directory, "candidates.mjs")).href;
  const { candidates } = (await import(url)) as { candidates: Record<string, unknown> };
  const names = Object.keys(candidates).filter((name) => !has(name, LEFT_OUT));
  return { ok: true, directory, names };
}

function isInstalled(directory: string, lock: string): boolean {
  const stamp = join(directory, STAMP);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === lock;
}

/** The original may be read-only; its copy must not be. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  cpSync(from, to, { recursive: true, force: true, mode: 0 });
  spawnSync("chmod", ["-R", "u+w", to]);
}

function install(directory: string): string | null {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { status, error, stderr } = spawnSync(npm, INSTALL, { cwd: directory, encoding: "utf8" });
  if (error !== undefined) return error.message;
  if (status === 0) return null;
  return `npm ended with ${status}: ${stderr.trim().slice(0, MESSAGE_CHARS_MAX)}`;
}

export function peerMeasurements(
  directory: string,
  names: readonly string[],
): readonly Measurement[] {
  return names.map((name) => ({
    name,
    run: () => {
      const calls = has(name, FEWER_CALLS) ? CALLS_FEW : CALLS;
      const args = ["bench.mjs", "--child", name, "--iterations", String(calls)];
      const figures = JSON.parse(lastLine(args, directory)) as { p50: number; p99: number };
      return [{ name, unit: "µs", p50: figures.p50, p99: figures.p99 } satisfies BenchRow];
    },
  }));
}

function has(name: string, parts: readonly string[]): boolean {
  return parts.some((part) => name.includes(part));
}
