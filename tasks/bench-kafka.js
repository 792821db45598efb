// `npm run bench:kafka`: compiles the gate, then runs it on a real Kafka; see test/bench/kafka/run.ts.
import { join } from "node:path";
import { compileBench, runNode } from "./compile-bench.js";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

/** A source that does not compile is no part that is missing. */
const FAILED = 1;

ensureInstalled();
const tsx = join(ROOT, "node_modules", "tsx", "dist", "cli.mjs");
const program = join(ROOT, "test", "bench", "kafka", "run.ts");
process.exitCode = compileBench("bench:kafka")
  ? runNode("bench:kafka", [tsx, program, ...process.argv.slice(2)])
  : FAILED;
