// Python with the packages of requirements.txt, for tests with clients that are not ours.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { saySkipped } from "../skipped.ts";

const run = promisify(execFile);

export type Python = {
  readonly available: boolean;
  /** Why it is not available; empty when it is. */
  readonly reason: string;
  /** Runs a script of this folder. @throws Error with what it printed, where it fails. */
  run(script: string, ...args: readonly string[]): Promise<string>;
  /** The interpreter, for a script that a test ends by itself. */
  readonly path: string;
};

const UV_VERSION = "0.13.9";

const PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];

const HERE = dirname(fileURLToPath(import.meta.url));
const REQUIREMENTS = join(HERE, "requirements.txt");
const CACHE = fileURLToPath(
  new URL("../../../node_modules/.cache/callgate-python", import.meta.url),
);

/**
 * The Python of a virtual environment with the packages of a file, which the first test makes. Use as
 * `describe.skipIf(!python.available)(...)`. Throws when it is absent but required.
 */
export async function findPython(requirements = REQUIREMENTS): Promise<Python> {
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const path = join(CACHE, digest, "bin", "python");
  const make = (own: string): Promise<void> =>
    makeWithUv(own, requirements).catch(() => makeWithPip(own, requirements));
  let reason = "";
  try {
    await findEnvironment(digest, make);
  } catch (error) {
    const { message } = error as Error;
    reason = `no Python 3 with venv, or its packages cannot be fetched: ${message.slice(0, 400)}`;
    saySkipped("python", reason);
  }
  const runScript = async (script: string, ...args: readonly string[]): Promise<string> =>
    (await run(path, [join(HERE, script), ...args])).stdout;
  return { available: reason === "", reason, run: runScript, path };
}

/**
 * uv takes a tenth of pip's processor time, but does not read pip's settings, such as a mirror. With `--seed` the
 * environment has pip, as one of `venv` has.
 */
async function makeWithUv(own: string, requirements: string): Promise<void> {
  const uv = join(await findEnvironment(`uv-${UV_VERSION}`, makeUv), "bin", "uv");
  const python = join(own, "bin", "python");
  await run(uv, ["venv", "--quiet", "--seed", "--python", "python3", own]);
  await run(uv, ["pip", "install", "--quiet", "--python", python, "-r", requirements]);
}

async function makeUv(own: string): Promise<void> {
  await run("python3", ["-m", "venv", own]);
  await run(join(own, "bin", "python"), [...PIP, `uv==${UV_VERSION}`]);
}

async function makeWithPip(own: string, requirements: string): Promise<void> {
  await run("python3", ["-m", "venv", "--clear", own]);
  await run(join(own, "bin", "python"), [...PIP, "--requirement", requirements]);
}

/** Test files run side by side: each makes its own folder, and the first to finish gives the name. */
async function findEnvironment(
  name: string,
  make: (own: string) => Promise<void>,
): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const own = mkdtempSync(join(CACHE, "new-"));
  try {
    await make(own);
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
