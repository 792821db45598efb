#!/usr/bin/env node
// Starts the command line. In a checkout it first brings dist/ up to date; an installed package has
// no sources and uses the published dist/. Everything runs in this one process, so that signals and
// the exit code are those of the command itself.
import { existsSync } from "node:fs";

if (existsSync(new URL("../services", import.meta.url))) {
  const { ensureBuilt } = await import("../tasks/ensure-built.js");
  await ensureBuilt();
  // `npm run` starts scripts in the root of the checkout; the user's paths are relative to where the
  // user is.
  const { npm_lifecycle_event: script, INIT_CWD: startedIn } = process.env;
  if (script === "callgate" && startedIn !== undefined) {
    process.chdir(startedIn);
  }
}
await import(new URL("../dist/services/cli/main.js", import.meta.url).href);
