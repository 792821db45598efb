// The command line. The only place that ends the process.
import { flushed } from "./output/flushed.ts";
import { systemTerminal } from "./output/terminal.ts";
import { runCli } from "./run-cli.ts";

const ALIVE_MS = 2 ** 30;

// A library does not keep a process alive by waiting; a command that has not ended does.
const alive = setInterval(() => undefined, ALIVE_MS);
const exitCode = await runCli(process.argv.slice(2), systemTerminal());
clearInterval(alive);
// What was written may still be on its way; what waits for input must not keep the process.
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit(exitCode);
