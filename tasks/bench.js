// `npm run bench`: compiles the bench and runs it.
import { join } from "node:path";
import { BUILD, compileBench, runNode } from "./compile-bench.js";
import { ensureInstalled } from "./ensure-installed.js";

const MISSING = 3;

ensureInstalled();
process.exitCode = compileBench("bench")
  ? runNode("bench", ["--expose-gc", join(BUILD, "run.js"), ...process.argv.slice(2)])
  : MISSING;
