// `npm run coverage:show`: prints coverage/coverage-summary.json by folder of services/, as a Markdown table.
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "./ensure-installed.js";

/** @typedef {{ total: number, covered: number }} Count */
/** @typedef {{ lines: Count, branches: Count, functions: Count }} Coverage */

const KINDS = /** @type {const} */ (["lines", "branches", "functions"]);

/** @param {Count} count */
const percent = ({ total, covered: hits }) =>
  total === 0 ? "–" : `${((100 * hits) / total).toFixed(1)} %`;

/** @param {readonly Coverage[]} parts @returns {Coverage} */
function add(parts) {
  const sum = (/** @type {"lines" | "branches" | "functions"} */ kind) => ({
    total: parts.reduce((all, part) => all + part[kind].total, 0),
    covered: parts.reduce((all, part) => all + part[kind].covered, 0),
  });
  return { lines: sum("lines"), branches: sum("branches"), functions: sum("functions") };
}

/** @param {string} name @param {Coverage} coverage */
const row = (name, coverage) =>
  `| ${[name, ...KINDS.map((kind) => percent(coverage[kind]))].join(" | ")} |`;

const file = join(ROOT, "coverage", "coverage-summary.json");
if (existsSync(file)) {
  /** @type {Record<string, Coverage>} */
  const { total, ...files } = JSON.parse(readFileSync(file, "utf8"));
  /** @type {Map<string, Coverage[]>} */
  const folders = new Map();
  for (const [path, coverage] of Object.entries(files)) {
    const [services = "", folder = ""] = relative(ROOT, path).split("/");
    const name = `${services}/${folder}`;
    folders.set(name, [...(folders.get(name) ?? []), coverage]);
  }
  const rows = [...folders].sort(([a], [b]) => a.localeCompare(b));
  const lines = [
    row("all", /** @type {Coverage} */ (total)),
    ...rows.map(([name, parts]) => row(name, add(parts))),
  ];
  process.stdout.write(
    `| folder | ${KINDS.join(" | ")} |\n|---|--:|--:|--:|\n${lines.join("\n")}\n`,
  );
} else {
  process.stderr.write("callgate: no coverage was recorded: run `npm run coverage` first\n");
  process.exitCode = 3;
}
