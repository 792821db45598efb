import { parseArgs } from "node:util";

const PARTS = ["kafka", "redis", "registry"];
const COMMANDS = ["up", "down", "status", "fetch"];

export class UsageError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "UsageError";
  }
}

/**
 * @typedef {{
 *   command: string,
 *   name: string,
 *   only: readonly string[],
 *   kafka: string | undefined,
 *   transactionVersion: number | undefined,
 *   brokers: number,
 *   port: number | undefined,
 *   properties: Record<string, string>,
 *   json: boolean,
 *   help: boolean,
 * }} InfraOptions
 */

/** The variables have the names of the options; an option wins. */
const VARIABLES = {
  name: "CALLGATE_INFRA_NAME",
  only: "CALLGATE_INFRA_ONLY",
  kafka: "CALLGATE_INFRA_KAFKA",
  "transaction-version": "CALLGATE_INFRA_TRANSACTION_VERSION",
  brokers: "CALLGATE_INFRA_BROKERS",
  port: "CALLGATE_INFRA_PORT",
};

/**
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {InfraOptions}
 */
export function parseOptions(args, env) {
  const { values, positionals } = parse(args);
  const [command = "", ...rest] = positionals;
  const help = values.help ?? false;
  if (!help && (!COMMANDS.includes(command) || rest.length > 0)) {
    throw new UsageError(`give one of ${COMMANDS.join(", ")}`);
  }
  const readOption = (/** @type {keyof typeof VARIABLES} */ option) => {
    const variable = env[VARIABLES[option]];
    return values[option] ?? (variable === "" ? undefined : variable);
  };
  return {
    command,
    name: checkName(readOption("name") ?? "default"),
    only: parseParts(readOption("only")),
    kafka: readOption("kafka"),
    transactionVersion: parseCount("transaction-version", readOption("transaction-version"), 0, 9),
    brokers: parseCount("brokers", readOption("brokers"), 1, 9) ?? 1,
    port: parseCount("port", readOption("port"), 1_024, 65_000),
    properties: Object.fromEntries((values.property ?? []).map(parseProperty)),
    json: values.json ?? false,
    help,
  };
}

/** @param {readonly string[]} args */
function parse(args) {
  /** @type {{ type: "string" }} */
  const text = { type: "string" };
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        name: text,
        only: text,
        kafka: text,
        "transaction-version": text,
        brokers: text,
        port: text,
        property: { type: "string", multiple: true },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} name */
function checkName(name) {
  if (/^[a-z0-9-]{1,40}$/.test(name)) return name;
  throw new UsageError(`--name \`${name}\`: small letters, digits and hyphens only`);
}

/** @param {string | undefined} list */
function parseParts(list) {
  if (list === undefined) return PARTS;
  const parts = list.split(",").map((part) => part.trim());
  const unknown = parts.filter((part) => !PARTS.includes(part));
  if (unknown.length === 0) return PARTS.filter((part) => parts.includes(part));
  throw new UsageError(`--only \`${unknown.join(",")}\`: give any of ${PARTS.join(",")}`);
}

/**
 * @param {string} option
 * @param {string | undefined} text
 * @param {number} min
 * @param {number} max
 */
function parseCount(option, text, min, max) {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`--${option} \`${text}\`: give a number from ${min} to ${max}`);
}

/**
 * @param {string} text
 * @returns {[string, string]}
 */
function parseProperty(text) {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--property \`${text}\`: give KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
