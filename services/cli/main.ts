// The command line's entry point, the only one that ends the process.
import { systemTerminal } from "./output/terminal.ts";
import { runCli } from "./run-cli.ts";

const ALIVE_MS = 2 ** 30;

// The library does not keep the process alive while it waits; an unfinished command must.
const alive = setInterval(() => undefined, ALIVE_MS);
const exitCode = await runCli(process.argv.slice(2), systemTerminal());
clearInterval(alive);
// A pending read of stdin must not keep the process alive.
process.exit(exitCode);
