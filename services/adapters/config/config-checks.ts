/**
 * Checks across keys: keys that belong together, contradict each other, or that a process needs.
 */
import { nameUnder, TOPICS, type Topic } from "../../runtime/topics.ts";
import { findFileProblems } from "./config-file-problems.ts";
import { CONFIG_KEYS } from "./config-keys.ts";
import { isSet, type ReadKey as Read, type UnplacedProblem as Unplaced } from "./config-problem.ts";
import { checkTargets } from "./notify-targets.ts";
import { checkSecrets } from "./secret-list.ts";

/** @param needs keys that must be set, such as `policy.files`; a secret may be set by its file. */
export function crossProblems(read: Read, needs: readonly string[]): readonly Unplaced[] {
  return [
    ...missing(read, needs),
    ...checkSasl(read),
    ...checkRegistryCredentials(read),
    ...findFileProblems(read, needs),
    ...checkRedisServers(read),
    ...checkGroups(read),
    ...checkTopics(read),
    ...checkTimes(read),
    ...checkSigning(read),
    ...checkSecrets(read("secrets"), read("secret.value")),
    ...checkTargets(read("notify.targets")),
  ];
}

function missing(read: Read, needs: readonly string[]): readonly Unplaced[] {
  return needs
    .filter((name) => !isSet(read(name)) && !isSet(read(`${name}File`)))
    .filter((name) => name !== "secret.value" || !isSet(read("secrets")))
    .map((name) => missingKey(name));
}

function missingKey(key: string): Unplaced {
  const keys = CONFIG_KEYS.filter(({ name }) => name === key || name === `${key}File`);
  const variables = keys.map(({ variable }) => variable).join(" or ");
  return { key, message: "is missing", remedy: `add it, or set ${variables}` };
}

function checkSasl(read: Read): readonly Unplaced[] {
  if (!isSet(read("kafka.sasl"))) return [];
  return missing(read, ["kafka.sasl.password"]);
}

/** A password without a user name would never be sent. */
function checkRegistryCredentials(read: Read): readonly Unplaced[] {
  return isSet(read("registry.password")) ? missing(read, ["registry.username"]) : [];
}

/** Keys with trusted proposals would suggest a check that the gate does not make. */
function checkSigning(read: Read): readonly Unplaced[] {
  if (presetOr(read, "gate.proposals") === "signed") return missing(read, ["gate.proposalKeys"]);
  if (!isSet(read("gate.proposalKeys"))) return [];
  const message = "is set, but proposals are trusted, so no token is checked";
  return [
    { key: "gate.proposalKeys", message, remedy: "set `gate.proposals: signed`, or remove it" },
  ];
}

const SERVERS = ["redis.url", "redis.sentinels", "redis.clusterNodes"];

function checkRedisServers(read: Read): readonly Unplaced[] {
  if (!isSet(read("redis"))) return [];
  const serverKeys = SERVERS.filter((name) => isSet(read(name)));
  const choice = "set one of `redis.url`, `redis.sentinels` and `redis.clusterNodes`";
  if (serverKeys.length === 0)
    return [{ key: "redis", message: "names no server", remedy: choice }];
  if (serverKeys.length > 1) {
    const [key = "redis"] = serverKeys.slice(1);
    return [{ key, message: `is set together with \`${serverKeys[0]}\``, remedy: choice }];
  }
  return serverKeys[0] === "redis.sentinels" ? missing(read, ["redis.sentinelName"]) : [];
}

/** Transactional ids contain the group: gate and executors would fence each other for ever. */
function checkGroups(read: Read): readonly Unplaced[] {
  const gate = presetOr(read, "kafka.group");
  if (presetOr(read, "executor.group") !== gate) return [];
  const key = isSet(read("executor.group")) ? "executor.group" : "kafka.group";
  const message = "gate and executors have the same group";
  return [{ key, message, remedy: "give each a group of its own" }];
}

/** With one name for two topics the gate would read its own decisions as proposals. */
function checkTopics(read: Read): readonly Unplaced[] {
  const prefix = String(presetOr(read, "kafka.topicPrefix"));
  const readName = (topic: Topic) => read(`kafka.topics.${topic}`);
  const nameOf = (topic: Topic) => readName(topic) ?? nameUnder(prefix, topic);
  return TOPICS.flatMap((topic, at) => {
    // Of two topics with one name, the second explicit name is the problem, never a default
    // name.
    const same = TOPICS.find(
      (other, otherAt) =>
        nameOf(other) === nameOf(topic) && (otherAt < at || (otherAt > at && !readName(other))),
    );
    if (same === undefined || !readName(topic)) return [];
    const message = `is the name of \`${same}\` too`;
    return [{ key: `kafka.topics.${topic}`, message, remedy: "give each topic a name of its own" }];
  });
}

/** A member that misses two heartbeats must not lose its partitions. */
const HEARTBEATS_MIN = 3;

function checkTimes(read: Read): readonly Unplaced[] {
  const session = numberOf(read, "kafka.sessionTimeoutMs");
  const heartbeat = numberOf(read, "kafka.heartbeatIntervalMs");
  if (session === null || heartbeat === null || session >= HEARTBEATS_MIN * heartbeat) return [];
  const message = `is less than ${HEARTBEATS_MIN} times \`kafka.heartbeatIntervalMs\` (${heartbeat})`;
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
