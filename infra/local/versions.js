import { readFileSync } from "node:fs";

/**
 * @typedef {{ version: string, logging: readonly string[], without?: readonly string[] }} KafkaLine
 * @typedef {{
 *   kafka: Record<string, KafkaLine>,
 *   kafkaDefault: string,
 *   registry: { artifact: string },
 *   redis: { debianPackage: string, version: string },
 *   mavenDependencyPlugin: string,
 *   checkJsonschema: string,
 *   images: Record<"kafka" | "kafka-for-tests" | "redis" | "registry" | "registry-in-kafka" | "prometheus" | "grafana", string>,
 * }} Versions
 */

/** @type {Versions} */
export const VERSIONS = JSON.parse(
  readFileSync(new URL("../versions.json", import.meta.url), "utf8"),
);

/**
 * `line` is a key of `versions.json` (`3.9`, `4`) or a full version of one of these lines.
 * @param {string} line
 * @returns {KafkaLine}
 */
export function kafkaLine(line) {
  const exactLine = VERSIONS.kafka[line];
  if (exactLine !== undefined) return exactLine;
  const parent = Object.entries(VERSIONS.kafka).find(([name]) => line.startsWith(`${name}.`));
  if (parent === undefined || !/^\d+\.\d+\.\d+$/.test(line)) {
    const lines = Object.keys(VERSIONS.kafka).map((name) => `\`${name}\``);
    throw new Error(
      `Kafka \`${line}\` has no entry in versions.json: give ${lines.join(", ")} or a full version`,
    );
  }
  return { ...parent[1], version: line };
}
