// `npm run bench`: compiles the bench and runs it.
import { join } from "node:path";
import { BUILD, compileBench, runNode } from "./compile-bench.js";
import { ensureInstalled } from "./ensure-installed.js";

/** Sources that do not compile are a failure (1), not a missing part (3). */
const FAILED = 1;

ensureInstalled();
process.exitCode = compileBench("bench")
  ? runNode("bench", ["--expose-gc", join(BUILD, "run.js"), ...process.argv.slice(2)])
  : FAILED;
