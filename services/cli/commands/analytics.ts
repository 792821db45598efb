import { type Command, Option } from "commander";
import type { QueryFormat } from "../analytics/query.ts";
import { addConfigOption, type Cli } from "./cli.ts";

type RunOptions = { readonly config?: string; readonly dataDir?: string };
type ReadOptions = {
  readonly config?: string;
  readonly dir?: string;
  readonly format: QueryFormat;
  readonly json?: true;
};

const FORMATS = ["table", "jsonl", "json", "csv"];

export function addAnalytics(program: Command, cli: Cli): void {
  const analytics = program
    .command("analytics")
    .description("numbers, alerts and SQL over the decisions");
  analytics
    .command("run", { isDefault: true })
    .description("turn decisions into metrics, alerts and tables until stopped")
    .option("-c, --config <file>", "configuration (default: $CALLGATE_CONFIG)")
    .option(
      "-d, --data-dir <directory>",
      "data directory of an embedded gate, instead of a cluster",
    )
    .action(async ({ config, dataDir }: RunOptions) => {
      const { runAnalytics } = await import("../../analytics/main.ts");
      cli.end(await runAnalytics(config, dataDir, cli.terminal.out));
    });
  addReading(
    analytics.command("query").argument("<sql>", "the query, over the view `decisions`"),
    "query the decisions in SQL (DuckDB); `describe decisions` lists the columns",
  ).action(async (sql: string, options: ReadOptions) => {
    const { runQuery } = await import("../analytics/query.ts");
    cli.end(await runQuery(sql, await readOf(options), cli.terminal));
  });
  addReading(
    analytics.command("report"),
    "refusals by tool, how often grants run out, the largest conversations, latency",
  ).action(async (options: ReadOptions) => {
    const { runReport } = await import("../analytics/query.ts");
    cli.end(await runReport(await readOf(options), cli.terminal));
  });
}

function addReading(command: Command, description: string): Command {
  return addConfigOption(command)
    .description(description)
    .option("--dir <directory>", "directory of the analytics; default: the configured one")
    .addOption(new Option("--format <format>", "output format").choices(FORMATS).default("table"))
    .option("--json", "the same as --format json");
}

async function readOf({ config, dir, format, json }: ReadOptions) {
  const { NO_BROKERS, openConfig } = await import("../../process/open-config.ts");
  const directory = dir ?? openConfig(config, [], NO_BROKERS).analytics.directory;
  return { directory, format: json === true ? "json" : format } as const;
}
