// `npm run infra:up|down|status|fetch`: runs real Kafka, Redis and schema registry on 127.0.0.1.
import { ensureInstalled } from "./ensure-installed.js";

ensureInstalled();
const { findGone, readState } = await import("../infra/local/run-state.js");
const { MissingError } = await import("../infra/local/missing.js");
const { parseOptions, UsageError } = await import("../infra/local/parse-options.js");
const { down, fetchParts, up } = await import("../infra/local/up-and-down.js");

/** @typedef {import("../infra/local/run-state.js").RunningPart} RunningPart */

const MISSING = 3;
const USAGE = 2;
const HELP = `npm run infra:up -- [options]      starts what is not running, waits until it is ready
npm run infra:status -- [--json]   prints addresses; exit code 1 when nothing runs or a part has ended
npm run infra:down                 ends what infra:up has started, and removes its data
npm run infra:fetch -- [options]   only downloads, into CALLGATE_CACHE (~/.cache/callgate)

  --only kafka,redis,registry   which parts (all)
  --kafka 3.9|4|x.y.z           version, see infra/versions.json (4)
  --transaction-version 0|2     transaction.version of Kafka 4 (the version's own)
  --brokers N                   brokers; with 3: replication 3, in-sync minimum 2 (1)
  --port N                      fixed ports: Kafka N, N+3, ...; Redis N+100, registry N+101 (free ones)
  --property KEY=VALUE          of the brokers, may be repeated: --property log.retention.ms=5000
  --name NAME                   a second set beside the first ("default")
  --json                        for programs
Options but --property and --json may also come as CALLGATE_INFRA_NAME, _ONLY, _KAFKA, _BROKERS, ...
`;

/** @param {string} text */
const print = (text) => process.stdout.write(text);

/** @type {Record<string, string>} */
const VARIABLES = {
  kafka: "KAFKA_BROKERS",
  redis: "REDIS_URL",
  registry: "SCHEMA_REGISTRY_URL",
};

/**
 * The addresses, as lines that a shell can take: `eval "$(npm run -s infra:status)"`.
 * @param {readonly RunningPart[]} parts
 * @param {boolean} json
 */
function describe(parts, json) {
  const all = parts.map((part) => ({ ...part, ended: findGone(part).map(({ name }) => name) }));
  if (json) return `${JSON.stringify(all, undefined, 2)}\n`;
  return all
    .map(({ part, address, ended, processes }) => {
      const pids = processes.map(({ pid }) => pid).join(", ");
      const state = ended.length === 0 ? `pid ${pids}` : `ENDED: ${ended.join(", ")}`;
      return `export ${VARIABLES[part]}=${address} # ${state}\n`;
    })
    .join("");
}

/** @param {import("../infra/local/parse-options.js").InfraOptions} options */
async function run(options) {
  const { command, name, json } = options;
  if (options.help) {
    print(HELP);
  } else if (command === "fetch") {
    fetchParts(options);
  } else if (command === "up") {
    print(describe(await up(options), json));
  } else if (command === "down") {
    const ended = (await down(name)).map(({ part }) => part);
    process.stderr.write(`callgate: ${ended.length === 0 ? "nothing ran" : `ended ${ended}`}\n`);
  } else {
    const parts = readState(name);
    print(describe(parts, json));
    const fallen = parts.some((part) => findGone(part).length > 0);
    process.exitCode = fallen || parts.length === 0 ? 1 : 0;
    if (parts.length === 0) process.stderr.write("callgate: nothing runs: npm run infra:up\n");
  }
}

/** @param {unknown} error */
function exitCodeOf(error) {
  if (error instanceof MissingError) return MISSING;
  return error instanceof UsageError ? USAGE : 1;
}

try {
  await run(parseOptions(process.argv.slice(2), process.env));
} catch (error) {
  process.stderr.write(`infra: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
