// Preloaded into a process that is measured: says at its end how much memory it had at most.
import { writeSync } from "node:fs";

const STDERR = 2;

process.on("exit", () => {
  writeSync(STDERR, `peak memory: ${process.resourceUsage().maxRSS} kB\n`);
});
