// `npm run bench:http`: builds the command and the bench, then runs it; see test/bench/http/run.ts.
import { join } from "node:path";
import { BUILD, compileBench, runNode } from "./compile-bench.js";
import { ensureBuilt } from "./ensure-built.js";
import { ensureInstalled } from "./ensure-installed.js";

/** Sources that do not compile are a failure (1), not a missing part (3). */
const FAILED = 1;

ensureInstalled();
await ensureBuilt();
process.exitCode = compileBench("bench:http")
  ? runNode("bench:http", [join(BUILD, "http", "run.js"), ...process.argv.slice(2)])
  : FAILED;
