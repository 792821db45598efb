// `npm run bench:http [-- --check] [-- --quick]`: decisions over HTTP, beside a server that answers 200 to
// everything with the same framework, and beside OPA where its program is there.
// Exit codes: 0; 1 a check failed, and with --check also a missed target; 2 usage; 3 a part is missing.
// The last line is the verdict.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { type BenchRow, medianRow } from "../bench-row.ts";
import { rowTable, targetTable } from "../table.ts";
import { judge, type Target, verdict } from "../targets.ts";
import type { LoadResult } from "./load.ts";
import { type BenchServer, startAllowAll, startCallgateServer, startOpa } from "./servers.ts";

const USAGE = 2;
const US_PER_MS = 1_000;
const CONNECTIONS = [1, 16, 64] as const;
const WORK = "node_modules/.cache/callgate-bench";
const BUILD = join(process.cwd(), WORK, "build", "test", "bench");
const FULL = { rounds: 3, seconds: 4 };
const QUICK = { rounds: 1, seconds: 3 };

const CALLGATE = "callgate serve";
const ALLOW_ALL = "answers 200 to everything";
const OPA = "OPA, a policy without state";
const rowName = (server: string, connections: number): string => `${server}, ${connections}`;

const TARGETS: readonly Target[] = [
  {
    ...{ row: rowName(CALLGATE, 64), figure: "p50", per: rowName(ALLOW_ALL, 64) },
    atLeast: 0.4,
  },
];

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

type Measured = {
  readonly rate: BenchRow;
  readonly time: BenchRow;
  readonly cpu: BenchRow;
  readonly wrong: readonly string[];
};

async function measure(
  name: string,
  { url, token, cpuMs }: BenchServer,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const form = name === OPA ? "opa" : "callgate";
  const args = [join(BUILD, "http", "load.js"), url, token, String(connections), String(seconds)];
  const beforeMs = cpuMs();
  const { stdout } = await promisify(execFile)(process.execPath, [...args, form]);
  const usedMs = cpuMs() - beforeMs;
  const { perSecond, p50Ms, p99Ms, answers, wrong } = JSON.parse(stdout) as LoadResult;
  const row = rowName(name, connections);
  return {
    rate: { name: row, unit: "answers/s", p50: perSecond },
    time: { name: row, unit: "ms", p50: p50Ms, p99: p99Ms },
    cpu: { name: row, unit: "µs of CPU", p50: (usedMs * US_PER_MS) / answers },
    wrong,
  };
}

type Servers = readonly (readonly [name: string, server: BenchServer])[];

async function startServers(directory: string): Promise<Servers> {
  const opa = await startOpa(directory);
  return [
    [CALLGATE, await startCallgateServer(directory)],
    [ALLOW_ALL, await startAllowAll(BUILD)],
    ...(opa === undefined ? [] : [[OPA, opa] as const]),
  ];
}

async function measureAll(servers: Servers, { rounds, seconds }: typeof FULL) {
  const measured = new Map<string, Measured[]>();
  for (let round = 0; round < rounds; round += 1) {
    // Side by side in time, so that a slow minute of the machine strikes all of them.
    for (const connections of CONNECTIONS) {
      for (const [name, server] of servers) {
        const one = await measure(name, server, connections, seconds);
        const key = rowName(name, connections);
        measured.set(key, [...(measured.get(key) ?? []), one]);
      }
    }
  }
  const all = [...measured.values()];
  return {
    rates: all.map((one) => medianRow(one.map(({ rate }) => rate))),
    times: all.map((one) => medianRow(one.map(({ time }) => time))),
    cpu: all.map((one) => medianRow(one.map((round) => round.cpu))),
    failures: all.flat().flatMap(({ rate, wrong }) => wrong.map((text) => `${rate.name}: ${text}`)),
  };
}

function readOptions(): { readonly check: boolean; readonly quick: boolean } | string {
  try {
    const flag = { type: "boolean", default: false } as const;
    const { check, quick } = parseArgs({ options: { check: flag, quick: flag } }).values;
    return { check, quick };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    process.stderr.write(`bench:http: ${options}: use --check and --quick\n`);
    return USAGE;
  }
  const sizes = options.quick ? QUICK : FULL;
  print(`Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}, ${sizes.rounds} rounds`);
  mkdirSync(WORK, { recursive: true });
  const directory = mkdtempSync(join(process.cwd(), WORK, "http-"));
  let servers: Servers = [];
  try {
    servers = await startServers(directory);
    if (servers.length < 3) {
      print("  OPA is not on this machine: go install github.com/open-policy-agent/opa@v1.22.3");
    }
    const { rates, times, cpu, failures } = await measureAll(servers, sizes);
    print(`\n## Answers a second, by connections\n\n${rowTable(rates, rowName(ALLOW_ALL, 64))}`);
    print(`\n## Time to an answer\n\n${rowTable(times, null)}`);
    print(`\n## CPU time of the server for an answer\n\n${rowTable(cpu, null)}`);
    for (const failure of failures) print(`  FAILED: ${failure}`);
    const judged = judge(TARGETS, rates);
    const { line, exitCode } = verdict({ judged, failures, missing: [], check: options.check });
    print(`\n## Targets\n\n${targetTable(judged)}\n\n${line}`);
    return exitCode;
  } finally {
    await Promise.all(servers.map(([, server]) => server.end()));
    rmSync(directory, { recursive: true, force: true });
  }
}

process.exitCode = await main();
