// Apicurio Registry with the API of Confluent's, on 127.0.0.1.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChild, removeAtEnd, startChild, waitUntilGone, waitUntilReady } from "./child.js";
import { isRegistryFetched, registryFolder } from "./fetch-parts.js";
import { findFreePorts } from "./free-ports.js";
import { MissingError, requirePrograms } from "./missing.js";
import { isAlive, killIfSame } from "./process-identity.js";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 90_000;
const ANSWER_WITHIN_MS = 2_000;

/**
 * @typedef {import("./child.js").ProcessIdentity} ProcessIdentity
 * @typedef {{ port?: number | undefined, folder?: string, keepFolder?: boolean }} RegistryOptions
 *
 * @typedef {{
 *   readonly url: string,
 *   readonly port: number,
 *   readonly pid: number,
 *   identity(): ProcessIdentity,
 *   isAlive(): boolean,
 *   kill(signal?: NodeJS.Signals): boolean,
 *   waitForExit(): Promise<void>,
 *   restart(signal?: NodeJS.Signals): Promise<void>,
 *   stop(): Promise<void>,
 * }} LocalRegistry `url` is what a client of Confluent's registry is given. Schemas and their ids
 *   outlive `restart`.
 */

/**
 * Starts a registry and waits until it answers. Throws `MissingError` when Java or the archive are not
 * there: `npm run infra:fetch` gets it.
 * @param {RegistryOptions} [options]
 * @returns {Promise<LocalRegistry>}
 */
export async function startRegistry(options = {}) {
  requirePrograms(["java"]);
  if (!isRegistryFetched()) {
    throw new MissingError("the registry is not in the cache: run `npm run infra:fetch`");
  }
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "callgate-registry-"));
  mkdirSync(folder, { recursive: true });
  if (options.keepFolder !== true) removeAtEnd(folder);
  const port = options.port ?? (await findFreePorts(1))[0] ?? 0;
  const url = `http://${HOST}:${port}/apis/ccompat/v7`;
  const logFile = join(folder, "registry.log");
  const args = javaArguments(port, join(folder, "schemas"));

  const start = async () => {
    const started = await startChild({ command: "java", args, logFile });
    const what = "the schema registry";
    const context = { identity: started, what, logFile, withinMs: READY_WITHIN_MS };
    await waitUntilReady(context, () => assertAnswers(url));
    return started;
  };
  const end = (/** @type {NodeJS.Signals | undefined} */ signal) => endChild(identity, signal);
  let identity = await start();
  return {
    url,
    port,
    get pid() {
      return identity.pid;
    },
    identity: () => identity,
    isAlive: () => isAlive(identity),
    kill: (signal = "SIGKILL") => killIfSame(identity, signal),
    waitForExit: () => waitUntilGone(identity),
    restart: async (signal) => {
      await end(signal);
      identity = await start();
    },
    stop: async () => {
      await end(undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * @param {number} port
 * @param {string} database a path without its ending
 */
function javaArguments(port, database) {
  const jar = readdirSync(registryFolder()).find((name) => name.endsWith("-runner.jar"));
  if (jar === undefined) throw new MissingError(`there is no runner in ${registryFolder()}`);
  return [
    "-Xmx256m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    `-Dquarkus.http.host=${HOST}`,
    `-Dquarkus.http.port=${port}`,
    "-Dquarkus.log.level=WARN",
    `-Dquarkus.datasource.jdbc.url=jdbc:h2:file:${database};WRITE_DELAY=0`,
    "-jar",
    join(registryFolder(), jar),
  ];
}

/** @param {string} url */
async function assertAnswers(url) {
  const answer = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  if (!answer.ok) throw new Error(`it answers with status ${answer.status}`);
  await answer.json();
}
