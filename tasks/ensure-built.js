// Builds dist/ with tsc when it is missing or was built from other sources. The build goes to a directory
// beside dist/ and then replaces it as a whole. So a process that starts meanwhile never runs half a build,
// and removed sources leave nothing behind.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { copyPrograms } from "./copy-programs.js";
import { ROOT } from "./ensure-installed.js";

const SOURCES = ["services", "schemas", "tsconfig.json", "package.json"];
const DIST = join(ROOT, "dist");
const STAMP = join(DIST, ".sources");
const LOCK = join(ROOT, "dist-build.lock");
const LOCK_OWNER = join(LOCK, "pid");
const LOCK_POLL_MS = 50;
const LOCK_WITHOUT_OWNER_MS = 5_000;

/** @param {string} message */
const note = (message) => process.stderr.write(`callgate: ${message}\n`);

/**
 * One line for each source file: path, modification time, size.
 * @param {string} path
 * @param {string[]} lines
 */
function listSources(path, lines) {
  const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (stat === undefined) {
    return;
  }
  if (!stat.isDirectory()) {
    lines.push(`${path} ${stat.mtimeMs} ${stat.size}`);
    return;
  }
  for (const name of readdirSync(join(ROOT, path)).sort()) {
    listSources(`${path}/${name}`, lines);
  }
}

/** A digest that changes whenever a source file is added, removed, touched or resized. */
function sourcesDigest() {
  /** @type {string[]} */
  const lines = [];
  for (const source of SOURCES) {
    listSources(source, lines);
  }
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

function isCurrent() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === sourcesDigest();
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Removes the lock of a process that died while it built. */
function breakStaleLock() {
  const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  const owner = existsSync(LOCK_OWNER) ? Number(readFileSync(LOCK_OWNER, "utf8")) : 0;
  const stale = owner > 0 ? !isAlive(owner) : age > LOCK_WITHOUT_OWNER_MS;
  if (!stale) {
    return;
  }
  // Moved away first: of two that see the same stale lock, only one moves it.
  const grave = `${LOCK}.${process.pid}`;
  try {
    renameSync(LOCK, grave);
  } catch {
    return;
  }
  rmSync(grave, { recursive: true, force: true });
}

/** @returns {boolean} whether this process holds the lock now */
function tryLock() {
  try {
    mkdirSync(LOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      return false;
    }
    throw error;
  }
  writeFileSync(LOCK_OWNER, String(process.pid));
  return true;
}

/** Where this process builds, before it moves the whole in place. */
const OUT = join(ROOT, `dist-build-${process.pid}`);
const OLD = `${OUT}-old`;

function removeScratch() {
  rmSync(OUT, { recursive: true, force: true });
  rmSync(OLD, { recursive: true, force: true });
}

/** What a process left that was killed while it built; called under the lock, when no other builds. */
function sweep() {
  for (const name of readdirSync(ROOT)) {
    const pid = Number(/^dist-build-(\d+)(-old)?$/.exec(name)?.[1] ?? 0);
    if (pid > 0 && pid !== process.pid && !isAlive(pid)) {
      rmSync(join(ROOT, name), { recursive: true, force: true });
    }
  }
}

/** @returns {Promise<number>} tsc's exit code */
function compile() {
  const tsc = join(ROOT, "node_modules", "typescript-native", "bin", "tsc");
  const child = spawn(process.execPath, [tsc, "--project", ROOT, "--outDir", OUT], {
    cwd: ROOT,
    stdio: ["ignore", 2, 2],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      process.off("exit", kill);
      resolve(code ?? 1);
    });
  });
}

function swapIn() {
  if (existsSync(DIST)) {
    renameSync(DIST, OLD);
  }
  try {
    renameSync(OUT, DIST);
  } catch (error) {
    // Two that broke one stale lock at the same moment may both have built; either build will do.
    if (!isCurrent()) {
      throw error;
    }
  }
}

/** @returns {Promise<boolean>} whether dist/ is now a build of the sources */
async function build() {
  const digest = sourcesDigest();
  sweep();
  try {
    if ((await compile()) !== 0) {
      return false;
    }
    copyPrograms(OUT);
    writeFileSync(join(OUT, ".sources"), digest);
    swapIn();
    return true;
  } finally {
    removeScratch();
  }
}

function unlock() {
  removeScratch();
  rmSync(LOCK, { recursive: true, force: true });
}

/**
 * Returns when dist/ is the build of the present sources. Safe to run in several processes at once.
 * Writes to stderr only; ends the process with exit code 3 when the sources do not compile.
 * @param {{ force?: boolean }} [options] `force` builds even when dist/ is current
 */
export async function ensureBuilt(options = {}) {
  if (options.force !== true && isCurrent()) {
    return;
  }
  if (!existsSync(join(ROOT, "node_modules", "typescript-native"))) {
    note("the compiler is not installed: run `npm ci` first");
    process.exit(3);
  }
  while (!tryLock()) {
    await sleep(LOCK_POLL_MS);
    breakStaleLock();
  }
  process.once("exit", unlock);
  const stopped = () => process.exit(130);
  process.once("SIGINT", stopped).once("SIGTERM", stopped);
  if (options.force === true || !isCurrent()) {
    note("building dist/ (once for each change of the sources)");
    if (!(await build())) {
      note("the build failed: see the compiler's messages above");
      process.exit(3);
    }
  }
  process.off("SIGINT", stopped).off("SIGTERM", stopped).off("exit", unlock);
  unlock();
}
