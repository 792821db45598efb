// The command line. The only place that ends the process.

import { flushed } from "./output/flushed.ts";
import { systemTerminal } from "./output/terminal.ts";
import { runCli } from "./run-cli.ts";

const exitCode = await runCli(process.argv.slice(2), systemTerminal());
// What was written may still be on its way; what waits for input must not keep the process.
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit(exitCode);
