// Runs dependency-cruiser with the rules of .dependency-cruiser.cjs.
import { join } from "node:path";
import { cruise } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import importRules from "../.dependency-cruiser.cjs";
import { ROOT } from "./ensure-installed.js";

/**
 * @param {string} root directory that holds `services/`
 * @returns {Promise<{ violations: string[], modules: number }>} one line for each import
 *   that a rule forbids, and how many modules of services/ were seen
 */
export async function checkImports(root) {
  const { output } = await cruise(
    ["services"],
    {
      ...importRules.options,
      ruleSet: { forbidden: importRules.forbidden },
      validate: true,
      baseDir: root,
    },
    undefined,
    { tsConfig: extractTSConfig(join(ROOT, "tsconfig.json")) },
  );
  if (typeof output === "string") {
    throw new Error("dependency-cruiser gave text where its result was asked for");
  }
  const violations = output.summary.violations.map(({ rule, from, to, cycle }) => {
    const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(" -> ");
    return `${rule.name}: ${from} -> ${way}`;
  });
  const modules = output.modules.filter(({ source }) => source.startsWith("services/")).length;
  return { violations, modules };
}
