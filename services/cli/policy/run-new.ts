/** `callgate policy new`: a policy to start from. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { usageError } from "../output/cli-error.ts";
import { EXIT_OK, type ExitCode } from "../output/exit-codes.ts";
import { openResult } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";
import { packageRoot } from "../package-root.ts";

/** One of `infra/policies/templates`. It goes to stdout, or to a file that must not be there yet. */
export async function runNew(
  template: string,
  out: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  if (out !== undefined && existsSync(out)) {
    throw usageError([`${out} is there already: name another file, or remove it`]);
  }
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
