// Preloaded into a measured process: prints its peak memory at its end.
import { writeSync } from "node:fs";

const STDERR = 2;

process.on("exit", () => {
  writeSync(STDERR, `peak memory: ${process.resourceUsage().maxRSS} kB\n`);
});
