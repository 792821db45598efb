// What the pages for operators name is in the code.
import { expect, test } from "vitest";
import { CONFIG_KEYS } from "../../../services/adapters/config/config-keys.ts";
import { topicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { FAMILIES } from "../../../services/analytics/totals.ts";
import { findLines, listTextFiles, readText } from "../../support/source-tree.ts";

const PAGES = ["operations", "access-control", "monitoring", "recovery", "analytics", "approvers"];
const OPERATIONS = PAGES.map((page) => readText(`docs/${page}.md`)).join("\n");
const CODE = [...OPERATIONS.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
const SOURCES = listTextFiles().filter((path) => /^services\/.+\.ts$/.test(path));

/** Names of numbers that a process serves, as Prometheus sees them. */
async function servedNames(): Promise<ReadonlySet<string>> {
  const text = await createProcessMetrics("gate").text();
  const own = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1] ?? "");
  const added = SOURCES.flatMap((path) =>
    [...readText(path).matchAll(/\bmetrics\.(add|watch)\(\s*"([a-z_]+)"/g)].map(
      ([, how, name]) => `callgate_${name}${how === "add" ? "_total" : ""}`,
    ),
  );
  return new Set([...own, ...added, ...Object.keys(FAMILIES).map((name) => `callgate_${name}`)]);
}

test("docs name only exported metrics, and every metric of ours", async () => {
  const served = await servedNames();
  const documentedNames = CODE.filter((text) =>
    /^(callgate|nodejs|process)_[a-z0-9_]+$/.test(text),
  );
  expect(documentedNames.filter((name) => !served.has(name))).toEqual([]);
  const ours = [...served].filter((name) => name.startsWith("callgate_"));
  expect(ours.filter((name) => !documentedNames.includes(name))).toEqual([]);
});

test("docs name only existing configuration keys", () => {
  const declaredKeys = CONFIG_KEYS.map(({ name }) => name);
  const sections = new Set(declaredKeys.map((name) => name.split(".")[0]));
  const documentedKeys = CODE.filter((text) => /^[a-z]+\.[a-zA-Z.]+$/.test(text)).filter((text) =>
    sections.has(text.split(".")[0]),
  );
  expect(documentedKeys.length).toBeGreaterThan(3);
  expect(documentedKeys.filter((name) => !declaredKeys.includes(name))).toEqual([]);
});

test("the ACL commands name every topic of a default installation and no other", () => {
  const names: readonly string[] = Object.values(topicNames("toolcalls"));
  const words = [...OPERATIONS.matchAll(/for T in ([a-z -]+); do/g)].flatMap((match) =>
    (match[1] ?? "").split(" ").map((word) => `toolcalls.${word}.v1`),
  );
  const documentedTopics = [...OPERATIONS.matchAll(/--topic (toolcalls\.[a-z-]+\.v1)/g)].map(
    (match) => match[1] ?? "",
  );
  expect([...words, ...documentedTopics].filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set([...words, ...documentedTopics])).toEqual(new Set(names));
  const groups = CONFIG_KEYS.filter(({ name }) => name.endsWith(".group")).map(({ defaultText }) =>
    defaultText?.replaceAll('"', ""),
  );
  const documentedGroups = [...OPERATIONS.matchAll(/--group (\S+)/g)].map((match) => match[1]);
  expect(new Set(documentedGroups)).toEqual(new Set(groups));
});

test("docs name only existing commands", () => {
  const commands = [...OPERATIONS.matchAll(/`callgate ([a-z]+)(?: ([a-z]+))?/g)].map(
    (match) => match[1] ?? "",
  );
  const files = SOURCES.filter((path) => path.startsWith("services/cli/commands/"));
  const unknown = commands.filter(
    (name) => findLines(files, RegExp(`\\.command\\("${name}`)).length === 0,
  );
  expect(commands.length).toBeGreaterThan(10);
  expect(unknown).toEqual([]);
});
