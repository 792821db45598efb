// `npm run bench:kafka`: compiles the gate, then runs it on a real Kafka; see test/bench/kafka/run.ts.
import { join } from "node:path";
import { compileBench, runNode } from "./compile-bench.js";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

/** Sources that do not compile are a failure (1), not a missing part (3). */
const FAILED = 1;

ensureInstalled();
const tsx = join(ROOT, "node_modules", "tsx", "dist", "cli.mjs");
const program = join(ROOT, "test", "bench", "kafka", "run.ts");
process.exitCode = compileBench("bench:kafka")
  ? runNode("bench:kafka", [tsx, program, ...process.argv.slice(2)])
  : FAILED;
