// Fetches jars with Maven into the cache folder. Each folder of the cache is filled under another name and
// then renamed, so it is always complete, and two processes that fetch at once do not disturb each other.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./folders.js";
import { MissingError, requirePrograms } from "./missing.js";
import { kafkaLine, VERSIONS } from "./versions.js";

/** @param {string} line of Kafka */
export function kafkaLibs(line) {
  return join(cacheFolder(), `kafka-${kafkaLine(line).version}`);
}

export function registryFolder() {
  const version = VERSIONS.registry.artifact.split(":")[2];
  return join(cacheFolder(), `apicurio-registry-${version}`);
}

/** @param {string} line */
export function isKafkaFetched(line) {
  return existsSync(kafkaLibs(line));
}

export function isRegistryFetched() {
  return existsSync(registryFolder());
}

/** @param {string} line */
export function fetchKafka(line) {
  if (isKafkaFetched(line)) return;
  fill(kafkaLibs(line), `Kafka ${kafkaLine(line).version}`, (folder, scratch) => {
    const pom = join(scratch, "pom.xml");
    writeFileSync(pom, writePom(line));
    const args = ["-f", pom, `${VERSIONS.mavenDependencyPlugin}:copy-dependencies`];
    maven([...args, "-DincludeScope=runtime", `-DoutputDirectory=${folder}`]);
  });
}

export function fetchRegistry() {
  if (isRegistryFetched()) return;
  fill(registryFolder(), "the schema registry", (folder, scratch) => {
    const { artifact } = VERSIONS.registry;
    const [, name, version, type, classifier] = artifact.split(":");
    const goal = `${VERSIONS.mavenDependencyPlugin}:copy`;
    maven([goal, `-Dartifact=${artifact}`, `-DoutputDirectory=${scratch}`]);
    const archive = join(scratch, `${name}-${version}-${classifier}.${type}`);
    run("tar", ["-xzf", archive, "-C", folder]);
  });
}

/**
 * @param {string} target
 * @param {string} what
 * @param {(folder: string, scratch: string) => void} put
 */
function fill(target, what, put) {
  requirePrograms(["java", "mvn"]);
  mkdirSync(cacheFolder(), { recursive: true });
  const scratch = mkdtempSync(join(cacheFolder(), "fetch-"));
  try {
    const folder = join(scratch, "whole");
    mkdirSync(folder);
    process.stderr.write(`callgate: fetching ${what} with Maven into ${target}\n`);
    put(folder, scratch);
    if (!existsSync(target)) renameSync(folder, target);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param {string[]} args */
function maven(args) {
  run("mvn", ["-B", "-q", "-ntp", ...args]);
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  const why = error?.message ?? `it ended with code ${status}`;
  throw new MissingError(`\`${command}\` could not fetch what is needed: ${why}: see above`);
}

/** @param {string} line */
function writePom(line) {
  const { version, logging, without = [] } = kafkaLine(line);
  const dependencies = [`org.apache.kafka:kafka_2.13:${version}`, ...logging];
  const exclusions = without.map((id) => `<exclusion>${coordinates(id)}</exclusion>`).join("");
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>callgate.local</groupId><artifactId>kafka-libs</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>
${dependencies.map((id) => `    <dependency>${coordinates(id)}<exclusions>${exclusions}</exclusions></dependency>`).join("\n")}
  </dependencies>
</project>
`;
}

/** @param {string} id `group:artifact` or `group:artifact:version` */
function coordinates(id) {
  const [group, artifact, version] = id.split(":");
  const ends = version === undefined ? "" : `<version>${version}</version>`;
  return `<groupId>${group}</groupId><artifactId>${artifact}</artifactId>${ends}`;
}
