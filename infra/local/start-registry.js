// Starts Apicurio Registry, with the API of Confluent's registry, on 127.0.0.1.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isRegistryFetched, registryFolder } from "./fetch-parts.js";
import { findFreePorts } from "./free-ports.js";
import { serverFolder, startServer } from "./local-server.js";
import { MissingError, requirePrograms } from "./missing.js";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 240_000;
const ANSWER_WITHIN_MS = 2_000;

/**
 * @typedef {{ port?: number | undefined, folder?: string, keepFolder?: boolean }} RegistryOptions
 *
 * @typedef {import("./local-server.js").LocalServer} LocalRegistry `url` is for clients of Confluent's
 *   registry. Schemas and their ids outlive `restart`.
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
  const folder = serverFolder("registry", options);
  const port = options.port ?? (await findFreePorts(1))[0] ?? 0;
  const url = `http://${HOST}:${port}/apis/ccompat/v7`;
  return startServer({
    what: "the schema registry",
    command: "java",
    args: javaArguments(port, join(folder, "schemas")),
    folder,
    logFile: join(folder, "registry.log"),
    url,
    port,
    withinMs: READY_WITHIN_MS,
    answers: () => assertAnswers(url),
  });
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
