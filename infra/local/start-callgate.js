// Runs our long-running commands as an operator does: as processes with a configuration file, watched
// through their health server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endChild, startChild, waitUntilGone, waitUntilReady } from "./child.js";
import { isAlive, killIfSame } from "./process-identity.js";

/** `ensureBuilt` has built it. The launcher would compare the sources at each start. */
export const COMMAND = fileURLToPath(new URL("../../dist/services/cli/main.js", import.meta.url));
const READY_WITHIN_MS = 240_000;
const ANSWER_WITHIN_MS = 2_000;

/**
 * @typedef {{
 *   name: string,
 *   args: readonly string[],
 *   folder: string,
 *   command?: string,
 *   nodeArgs?: readonly string[],
 * }} CallgateOptions `args`: `["gate", "--config", file]`, with `http.port` 0 in the file. `folder`: the
 *   working directory, with the log `<name>.log`. `command`: the built command line, by default that in dist/.
 *
 * @typedef {{
 *   readonly pid: number,
 *   readonly logFile: string,
 *   log(): string,
 *   get(path: string): Promise<string>,
 *   isReady(): Promise<boolean>,
 *   waitUntilReady(): Promise<void>,
 *   isAlive(): boolean,
 *   kill(signal?: NodeJS.Signals): boolean,
 *   waitForExit(): Promise<void>,
 *   stop(): Promise<void>,
 * }} LocalCallgate `get`: the body that its health server answers with status 200. `stop` sends SIGTERM.
 */

/**
 * Starts a command; it ends with this process at the latest.
 * @param {CallgateOptions} options
 * @returns {Promise<LocalCallgate>}
 */
export async function startCallgate({ name, args, folder, command = COMMAND, nodeArgs = [] }) {
  const logFile = join(folder, `${name}.log`);
  const begin = lengthOf(logFile);
  const all = [...nodeArgs, command, ...args];
  const identity = await startChild({ command: process.execPath, args: all, logFile, cwd: folder });
  const log = () => readFileSync(logFile, "utf8").slice(begin);
  const get = async (/** @type {string} */ path) => {
    const port = /"port":(\d+),"msg":"starting"/.exec(log())?.[1];
    if (port === undefined) throw new Error("its log does not name its port yet");
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${text}`);
    return text;
  };
  const context = { identity, what: name, logFile, withinMs: READY_WITHIN_MS };
  return {
    pid: identity.pid,
    logFile,
    log,
    get,
    isReady: () =>
      get("/readyz").then(
        () => true,
        () => false,
      ),
    waitUntilReady: () => waitUntilReady(context, () => get("/readyz")),
    isAlive: () => isAlive(identity),
    kill: (signal = "SIGKILL") => killIfSame(identity, signal),
    waitForExit: () => waitUntilGone(identity),
    stop: () => endChild(identity, "SIGTERM"),
  };
}

/** @param {string} file */
function lengthOf(file) {
  try {
    return readFileSync(file, "utf8").length;
  } catch {
    return 0;
  }
}
