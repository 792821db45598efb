/** `callgate policy new`: a policy to start from. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { openResult, refuseExisting } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";
import { packageRoot } from "../package-root.ts";

/** One of `infra/policies/templates`, written to stdout or to a file that must not exist yet. */
export async function runNew(
  template: string,
  out: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  refuseExisting(out);
  const path = join(packageRoot(), "infra", "policies", "templates", `${template}.yaml`);
  const text = await readFile(path, "utf8");
  const result = await openResult(terminal, out);
  try {
    await result.write(text);
  } finally {
    await result.close();
  }
  return EXIT_OK;
}
