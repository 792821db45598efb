/**
 * gate-bypass-bench counts the rewrites of forbidden commands that have their effect despite the
 * gate.
 */
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type LineGate, openLineGate } from "./line-gate.ts";

/** Pinned: https://pypi.org/project/agentguard-eval/0.3.2/ */
const PACKAGE = "agentguard-eval==0.3.2";
const INSTALL_MS_MAX = 180_000;

export interface BypassScores {
  /** Our gate is called `callgate`; the others are the package's own. */
  readonly scores: readonly {
    readonly gate: string;
    /** Rewrites that have the forbidden effect on this machine's `sh`. */
    readonly effective: number;
    readonly bypasses: number;
  }[];
  /** Commands that Callgate allowed and that had the forbidden effect. */
  readonly landed: readonly string[];
}

const run = promisify(execFile);
const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** @param scratch an empty directory: the package is installed into it. */
export async function runGateBypass(
  scratch: string,
): Promise<BypassScores | { readonly missing: string }> {
  const python = join(scratch, "bin", "python3");
  try {
    await run("python3", ["-m", "venv", scratch], { timeout: INSTALL_MS_MAX });
    const install = ["-m", "pip", "install", "--quiet", "--no-deps", "--retries", "1", PACKAGE];
    await run(python, install, { timeout: INSTALL_MS_MAX });
  } catch (error) {
    const problem = error instanceof Error ? error.message.trim().split("\n").at(-1) : error;
    return { missing: `${PACKAGE} could not be installed from PyPI: ${problem}` };
  }
  const gate = await openLineGate(beside("gate-bypass.yaml"), "shell");
  try {
    return await play(python, gate);
  } finally {
    await gate.close();
  }
}

async function play(python: string, gate: LineGate): Promise<BypassScores> {
  const child = spawn(python, [beside("gate_bypass.py")], { stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line) as string | BypassScores;
    if (typeof message !== "string") return message;
    const { outcome } = await gate.decide(message);
    child.stdin.write(outcome === "allowed" ? "ALLOW\n" : "DENY\n");
  }
  throw new Error("gate-bypass-bench ended without scores: its error is above");
}
