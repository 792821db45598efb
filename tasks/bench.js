// `npm run bench`: compiles the bench and runs it.
import { join } from "node:path";
import { BUILD, compileBench, runNode } from "./compile-bench.js";
import { ensureInstalled } from "./ensure-installed.js";

/** A source that does not compile is no part that is missing. */
const FAILED = 1;

ensureInstalled();
process.exitCode = compileBench("bench")
  ? runNode("bench", ["--expose-gc", join(BUILD, "run.js"), ...process.argv.slice(2)])
  : FAILED;
