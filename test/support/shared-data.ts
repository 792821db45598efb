// Data sets that are too large for the repository lie beside it, in `../shared`. Tests that need
// them skip where they are absent, and the test command prints why.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

export type SharedData = {
  readonly available: boolean;
  /** Absolute; to be read only when `available`. */
  readonly path: string;
  /** Why it is not available; empty when it is. */
  readonly reason: string;
};

const SHARED = fileURLToPath(new URL("../../../shared", import.meta.url));

/** True when the environment variable CALLGATE_REQUIRE, a comma list, names `shared`. */
function isRequired(): boolean {
  const required = process.env["CALLGATE_REQUIRE"] ?? "";
  return required.split(",").some((word) => word.trim() === "shared");
}

/** The test command gathers the reasons in a file; run by hand, the reason goes to stderr. */
function say(reason: string): void {
  const log = process.env["CALLGATE_SKIP_LOG"];
  if (log === undefined || log === "") {
    process.stderr.write(`skipped: ${reason}\n`);
    return;
  }
  const file = expect.getState().testPath ?? "";
  appendFileSync(log, `${JSON.stringify({ file, reason })}\n`);
}

/**
 * Finds `relative` in the directory `shared` beside the repository.
 *
 * Use as `describe.skipIf(!data.available)(...)`. Throws when the data is absent but required.
 */
export function sharedData(relative: string): SharedData {
  const path = join(SHARED, relative);
  if (existsSync(path)) {
    return { available: true, path, reason: "" };
  }
  const reason = `\`../shared/${relative}\` is not beside the repository`;
  if (isRequired()) {
    throw new Error(`${reason}, and CALLGATE_REQUIRE asks for it`);
  }
  say(reason);
  return { available: false, path, reason };
}
