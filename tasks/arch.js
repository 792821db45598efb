// Checks the import rules of .dependency-cruiser.cjs over services/. Fails when the cruise saw fewer
// modules than test/minimum-counts.json states: one that parses nothing finds no violation either.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cruise } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { ROOT } from "./ensure-installed.js";

process.chdir(ROOT);
const config = createRequire(import.meta.url)("../.dependency-cruiser.cjs");
const minimum = JSON.parse(readFileSync(join(ROOT, "test/minimum-counts.json"), "utf8")).modules;

const { output } = await cruise(
  ["services"],
  { ...config.options, ruleSet: { forbidden: config.forbidden }, validate: true },
  undefined,
  { tsConfig: extractTSConfig("tsconfig.json") },
);
if (typeof output === "string") {
  throw new Error("dependency-cruiser gave text where its result was asked for");
}

const seen = output.modules.filter((module) => module.source.startsWith("services/")).length;
for (const { rule, from, to, cycle } of output.summary.violations) {
  const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(" -> ");
  process.stdout.write(`${rule.severity} ${rule.name}: ${from} -> ${way}\n`);
}
process.stdout.write(
  `${output.summary.error} import rule violations, ${seen} modules seen, at least ${minimum} expected\n`,
);
if (seen < minimum) {
  process.stdout.write("too few modules were seen: the import rules were not really checked\n");
}
process.exitCode = output.summary.error > 0 || seen < minimum ? 1 : 0;
