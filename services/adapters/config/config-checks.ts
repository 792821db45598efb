/** What no single key says: keys that belong together, that contradict, that a process needs. */
import { nameUnder, TOPICS, type Topic } from "../../runtime/topics.ts";
import { findFileProblems } from "./config-file-problems.ts";
import { CONFIG_KEYS } from "./config-keys.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { tlsProblems } from "./config-tls.ts";

type Unplaced = Omit<ConfigProblem, "where">;
/** The value of a key as it was written; undefined: it was not. */
type Read = (name: string) => unknown;

/** @param needs keys that must be given, `policy.files`; a secret may be given by its file. */
export function crossProblems(read: Read, needs: readonly string[]): readonly Unplaced[] {
  return [
    ...missing(read, needs),
    ...login(read),
    ...registryLogin(read),
    ...tlsProblems(read),
    ...findFileProblems(read, needs),
    ...servers(read),
    ...groups(read),
    ...topics(read),
    ...times(read),
    ...signing(read),
  ];
}

function missing(read: Read, needs: readonly string[]): readonly Unplaced[] {
  return needs
    .filter((name) => !isSet(read(name)) && !isSet(read(`${name}File`)))
    .map((name) => missingKey(name));
}

function missingKey(key: string): Unplaced {
  const keys = CONFIG_KEYS.filter(({ name }) => name === key || name === `${key}File`);
  const variables = keys.map(({ variable }) => variable).join(" or ");
  return { key, message: "is missing", remedy: `add it, or set ${variables}` };
}

function login(read: Read): readonly Unplaced[] {
  if (!isSet(read("kafka.sasl"))) return [];
  return missing(read, ["kafka.sasl.password"]);
}

/** A password alone is sent to nobody. */
function registryLogin(read: Read): readonly Unplaced[] {
  return isSet(read("registry.password")) ? missing(read, ["registry.username"]) : [];
}

/** Keys beside trusted proposals look like a check that is not made. */
function signing(read: Read): readonly Unplaced[] {
  if (presetOr(read, "gate.proposals") === "signed") return missing(read, ["gate.proposalKeys"]);
  if (!isSet(read("gate.proposalKeys"))) return [];
  const message = "is given, and proposals are trusted: no token is looked at";
  return [
    { key: "gate.proposalKeys", message, remedy: "set `gate.proposals: signed`, or remove it" },
  ];
}

const SERVERS = ["redis.url", "redis.sentinels", "redis.clusterNodes"];

function servers(read: Read): readonly Unplaced[] {
  if (!isSet(read("redis"))) return [];
  const serverKeys = SERVERS.filter((name) => isSet(read(name)));
  const choice = "give one of `redis.url`, `redis.sentinels` and `redis.clusterNodes`";
  if (serverKeys.length === 0)
    return [{ key: "redis", message: "names no server", remedy: choice }];
  if (serverKeys.length > 1) {
    const [key = "redis"] = serverKeys.slice(1);
    return [{ key, message: `is given beside \`${serverKeys[0]}\``, remedy: choice }];
  }
  return serverKeys[0] === "redis.sentinels" ? missing(read, ["redis.sentinelName"]) : [];
}

/** Transactional ids are made of it: gate and executors would fence each other for ever. */
function groups(read: Read): readonly Unplaced[] {
  const gate = presetOr(read, "kafka.group");
  if (presetOr(read, "executor.group") !== gate) return [];
  const key = isSet(read("executor.group")) ? "executor.group" : "kafka.group";
  const message = "gate and executors have the same group";
  return [{ key, message, remedy: "give each a group of its own" }];
}

/** What is read would be what is written, and the decisions would be proposals. */
function topics(read: Read): readonly Unplaced[] {
  const prefix = String(presetOr(read, "kafka.topicPrefix"));
  const readName = (topic: Topic) => read(`kafka.topics.${topic}`);
  const nameOf = (topic: Topic) => readName(topic) ?? nameUnder(prefix, topic);
  return TOPICS.flatMap((topic, at) => {
    // Of two that are named the second is told, and never the one that has its name of the prefix.
    const same = TOPICS.find(
      (other, otherAt) =>
        nameOf(other) === nameOf(topic) && (otherAt < at || (otherAt > at && !readName(other))),
    );
    if (same === undefined || !readName(topic)) return [];
    const message = `is the name of \`${same}\` too`;
    return [{ key: `kafka.topics.${topic}`, message, remedy: "give each topic a name of its own" }];
  });
}

/** A member that is silent between two signs of life must not be taken for dead. */
const BEATS_MIN = 3;

function times(read: Read): readonly Unplaced[] {
  const session = numberOf(read, "kafka.sessionTimeoutMs");
  const heartbeat = numberOf(read, "kafka.heartbeatIntervalMs");
  if (session === null || heartbeat === null || session >= BEATS_MIN * heartbeat) return [];
  const message = `is less than ${BEATS_MIN} times \`kafka.heartbeatIntervalMs\` (${heartbeat})`;
  return [{ key: "kafka.sessionTimeoutMs", message, remedy: "raise it, or lower the other" }];
}

function numberOf(read: Read, name: string): number | null {
  const value = presetOr(read, name);
  return typeof value === "number" ? value : null;
}

function presetOr(read: Read, name: string): unknown {
  const preset = CONFIG_KEYS.find((key) => key.name === name)?.defaultText ?? "null";
  return read(name) ?? (JSON.parse(preset) as unknown);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}
