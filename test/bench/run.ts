// `npm run bench [-- --check] [-- --only SECTION,…]`: what a decision costs, beside other ways.
// Exit codes: 0; 1 a check failed, and with --check also a missed target; 3 a part or data is
// missing. The last line is the verdict.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BenchRow } from "./bench-row.ts";
import type { Section, SectionResult } from "./section.ts";
import { SECTIONS } from "./sections.ts";
import { rowTable, targetTable } from "./table.ts";
import { judge, verdict } from "./targets.ts";

const CACHE = "node_modules/.cache/callgate-bench";
const USAGE = 2;
const MS_PER_SECOND = 1_000;

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

type Arguments = { readonly check: boolean; readonly sections: readonly Section[] };

function parseArguments(args: readonly string[]): Arguments | string {
  const names = SECTIONS.map(({ name }) => name);
  let check = false;
  let only: readonly string[] = SECTIONS.filter(({ isLong }) => isLong !== true).map(
    ({ name }) => name,
  );
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === "--check") check = true;
    else if (args[at] === "--only") {
      at += 1;
      only = (args[at] ?? "").split(",");
    } else return `\`${args[at]}\` is no option: use --check and --only ${names.join(",")}`;
  }
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) return `there is no section \`${unknown}\`: ${names.join(", ")}`;
  return { check, sections: SECTIONS.filter(({ name }) => only.includes(name)) };
}

async function runSection(section: Section, scratch: string): Promise<SectionResult> {
  print(`\n## ${section.title}\n`);
  const startedAt = performance.now();
  const result = await section.run(scratch);
  for (const { base, rows } of result.tables) print(`${rowTable(rows, base)}\n`);
  for (const failure of result.failures) print(`  FAILED: ${failure}`);
  for (const missing of result.missing) print(`  missing: ${missing}`);
  const seconds = Math.round((performance.now() - startedAt) / MS_PER_SECOND);
  print(`  (${section.rounds} rounds, median of each figure; ${seconds} s)`);
  return result;
}

async function main(args: readonly string[]): Promise<number> {
  const read = parseArguments(args);
  if (typeof read === "string") {
    process.stderr.write(`bench: ${read}\n`);
    return USAGE;
  }
  const { check, sections } = read;
  print(`Node ${process.version} on ${process.platform} ${process.arch}`);
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(process.cwd(), CACHE, "data-"));
  const rows: BenchRow[] = [];
  const failures: string[] = [];
  const missing: string[] = [];
  try {
    for (const section of sections) {
      const result = await runSection(section, scratch);
      for (const table of result.tables) rows.push(...table.rows);
      failures.push(...result.failures);
      missing.push(...result.missing);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const judged = judge(
    sections.flatMap(({ targets }) => targets),
    rows,
  );
  const { line, exitCode } = verdict({ judged, failures, missing, check });
  print(`\n## Targets\n\n${targetTable(judged)}\n\n${line}`);
  return exitCode;
}

process.exitCode = await main(process.argv.slice(2));
