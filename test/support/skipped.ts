// Tests that need what a machine may lack skip and say why; `CALLGATE_REQUIRE`, a comma list, names what
// must be there.
import { appendFileSync } from "node:fs";
import { expect } from "vitest";

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

/** Says why the tests of the calling file skip. Throws when `CALLGATE_REQUIRE` names `what`. */
export function saySkipped(what: string, reason: string): void {
  const required = process.env["CALLGATE_REQUIRE"] ?? "";
  if (required.split(",").some((word) => word.trim() === what)) {
    throw new Error(`${reason}, and CALLGATE_REQUIRE asks for it`);
  }
  say(reason);
}
