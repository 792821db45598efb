// The command line. The only place that ends the process.
import { systemTerminal } from "./output/terminal.ts";
import { runCli } from "./run-cli.ts";

const ALIVE_MS = 2 ** 30;

// A library does not keep a process alive by waiting; a command that has not ended does.
const alive = setInterval(() => undefined, ALIVE_MS);
const exitCode = await runCli(process.argv.slice(2), systemTerminal());
clearInterval(alive);
// What waits for input must not keep the process.
process.exit(exitCode);
