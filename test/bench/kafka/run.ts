// `npm run bench:kafka [-- --check] [-- --quick] [-- --only PART,…]`: the gate on a real Kafka, beside a loop
// that decides nothing and beside Kafka Streams, all on the same records.
// Exit codes: 0; 1 a check failed, and with --check also a missed target; 2 usage; 3 a part is missing.
// The last line is the verdict.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findMissing, MissingError } from "../../../infra/local/missing.js";
import { startKafka } from "../../../infra/local/start-kafka.js";
import { startRedis } from "../../../infra/local/start-redis.js";
import { sharedData } from "../../support/shared-data.ts";
import { type BenchRow, medianRow } from "../bench-row.ts";
import { rowTable, targetTable } from "../table.ts";
import { judge, verdict } from "../targets.ts";
import { measureConversations } from "./measure-conversations.ts";
import { type DeathParts, measureDeaths } from "./measure-deaths.ts";
import { measureField } from "./measure-field.ts";
import { measurePaced, measureThroughput, type SharedSizes } from "./measure-shared.ts";
import type { PartResult } from "./part-result.ts";
import type { SharedBench } from "./shared-bench.ts";
import { PARTS, type PartName, TARGETS } from "./targets.ts";

const MISSING = 3;
const USAGE = 2;
const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;
/** No round begins that would end after this time. */
const BUDGET_MS = 23 * MS_PER_MINUTE;
const ROUNDS = 3;
const WORK = "node_modules/.cache/callgate-bench";
const BUILD = join(process.cwd(), WORK, "build", "test", "bench", "kafka");
/** The flags for a busy gate in docs/operations.md. */
const NODE_ARGS = ["--max-semi-space-size=64", "--initial-old-space-size=512"];
/** The parts that build Kafka Streams. */
const NEED_MAVEN: readonly PartName[] = ["throughput", "paced", "conversations"];
const BROKER = { "log.message.timestamp.type": "LogAppendTime", "log.retention.hours": 240 };

const FULL: SharedSizes = {
  ...{ inputs: 100_000, partitions: [1, 4], rates: [500, 2_000], seconds: 12, warmUpSeconds: 3 },
};
const QUICK: SharedSizes = { ...FULL, inputs: 20_000, seconds: 6, warmUpSeconds: 2 };

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

type Options = {
  readonly check: boolean;
  readonly quick: boolean;
  readonly parts: readonly PartName[];
};

function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        check: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        only: { type: "string", default: PARTS.join(",") },
      },
    });
    const { check, quick, only } = values;
    const names = only.split(",");
    const unknown = names.find((name) => !PARTS.some((part) => part === name));
    if (unknown !== undefined) return `there is no part \`${unknown}\`: ${PARTS.join(", ")}`;
    return { check, quick, parts: PARTS.filter((part) => names.includes(part)) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The folder of the shared bench. @throws MissingError that names all that is missing. */
function requireParts({ parts }: Options): string {
  const shared = sharedData("bench");
  const missing = ["java", "redis-server"].map(findMissing);
  if (NEED_MAVEN.some((part) => parts.includes(part))) missing.push(findMissing("mvn"));
  if (!shared.available) missing.push(shared.reason);
  const reasons = missing.filter((text) => text !== undefined);
  if (reasons.length > 0) throw new MissingError(reasons.join("; "));
  return shared.path;
}

/** Measures in rounds until all are done or the time is up, and retains the results. */
class Rounds {
  readonly failures: string[] = [];
  readonly counts = new Map<string, number>();
  readonly #rows = new Map<string, BenchRow[]>();
  readonly #longestMs = new Map<string, number>();
  readonly #startedAt = performance.now();

  async measure(name: string, action: () => Promise<PartResult>): Promise<void> {
    const startedAt = performance.now();
    if (startedAt - this.#startedAt + (this.#longestMs.get(name) ?? 0) > BUDGET_MS) {
      // Medians of fewer rounds would not be the requested figures.
      this.failures.push(`${name}: no time for another round`);
      return;
    }
    try {
      const { rows, failures } = await action();
      for (const row of rows) this.#rows.set(row.name, [...(this.#rows.get(row.name) ?? []), row]);
      this.failures.push(...failures);
    } catch (error) {
      if (error instanceof MissingError) throw error;
      this.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const elapsedMs = performance.now() - startedAt;
    this.#longestMs.set(name, Math.max(elapsedMs, this.#longestMs.get(name) ?? 0));
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const [load = 0] = loadavg();
    const seconds = Math.round(elapsedMs / MS_PER_SECOND);
    print(`  ${name}: a round in ${seconds} s, load average ${load.toFixed(1)}`);
  }

  medians(): readonly BenchRow[] {
    return [...this.#rows.values()].map(medianRow);
  }

  get minutes(): string {
    return ((performance.now() - this.#startedAt) / MS_PER_MINUTE).toFixed(1);
  }
}

async function measureAll(options: Options, folder: string, work: string): Promise<Rounds> {
  const { parts, quick } = options;
  const [kafka, redis] = await Promise.all([
    startKafka({ properties: BROKER, isMeasured: true }),
    startRedis(),
  ]);
  const gateChild = join(BUILD, "gate-child.js");
  const peer = [process.execPath, ...NODE_ARGS, gateChild].join(" ");
  const bench: SharedBench = { folder, work, brokers: kafka.bootstrap.join(","), peer };
  const deaths: DeathParts = {
    ...{ bench, gateChild, replayChild: join(BUILD, "replay-child.js"), nodeArgs: NODE_ARGS },
    redisUrl: redis.url,
  };
  const sizes = quick ? QUICK : FULL;
  const count = quick ? 1 : ROUNDS;
  const rounds = new Rounds();
  const shared = async (): Promise<void> => {
    if (parts.includes("throughput")) {
      await rounds.measure("throughput", () => measureThroughput(bench, sizes));
    }
    if (parts.includes("paced")) await rounds.measure("paced", () => measurePaced(bench, sizes));
  };
  print(`Node ${process.version}, Kafka ${kafka.version}, ${process.platform} ${process.arch}\n`);
  try {
    await shared();
    const wanted = {
      deaths: parts.includes("kill"),
      replay: parts.includes("replay") || parts.includes("memory"),
    };
    if (wanted.deaths || wanted.replay) {
      const { inputs } = sizes;
      await rounds.measure("kill, replay and memory", () =>
        measureDeaths(deaths, { inputs, rounds: count }, wanted),
      );
    }
    if (parts.includes("conversations")) {
      await rounds.measure("conversations", () => measureConversations(bench));
    }
    if (parts.includes("field")) await rounds.measure("field", () => measureField(deaths));
    for (let round = 1; round < count; round += 1) await shared();
  } finally {
    await Promise.all([kafka.stop(), redis.stop()]);
  }
  return rounds;
}

/**
 * Rows of one group begin with the same word. The loop that decides nothing is the base of the
 * ratios.
 */
function tables(rows: readonly BenchRow[]): string {
  const groups = new Map<string, BenchRow[]>();
  for (const row of rows) {
    const at = row.name.indexOf(":");
    const group = at < 0 ? "" : row.name.slice(0, at);
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  return [...groups]
    .map(([group, ofGroup]) => rowTable(ofGroup, group === "" ? null : `${group}: bare loop`))
    .join("\n\n");
}

async function main(options: Options): Promise<number> {
  const folder = requireParts(options);
  mkdirSync(WORK, { recursive: true });
  const work = mkdtempSync(join(process.cwd(), WORK, "kafka-"));
  let failed = true;
  try {
    const rounds = await measureAll(options, folder, work);
    const rows = rounds.medians();
    const targets = options.parts.flatMap((part) => TARGETS[part]);
    const { failures } = rounds;
    const judged = judge(targets, rows);
    const { check } = options;
    const { line, exitCode } = verdict({ judged, failures, missing: [], check });
    failed = failures.length > 0;
    print(`\n${tables(rows)}\n\n## Targets, medians\n\n${targetTable(judged)}\n`);
    for (const failure of failures) print(`  FAILED: ${failure}`);
    if (failed) print(`  logs are in ${work}`);
    const counts = [...rounds.counts].map(([name, times]) => `${name} ${times}`).join(", ");
    print(`  rounds: ${counts}; ${rounds.minutes} minutes`);
    print(line.replace("bench:", "bench:kafka:"));
    return exitCode;
  } finally {
    if (!failed) rmSync(work, { recursive: true, force: true });
  }
}

const options = readOptions();
if (typeof options === "string") {
  process.stderr.write(`bench:kafka: ${options}\n`);
  process.exitCode = USAGE;
} else {
  try {
    process.exitCode = await main(options);
  } catch (error) {
    process.stderr.write(
      `bench:kafka: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exitCode = error instanceof MissingError ? MISSING : 1;
  }
}
