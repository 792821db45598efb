/** `callgate policy fmt`: formats policies in place. */
import { writeFile } from "node:fs/promises";
import { loadPolicy } from "../../adapters/policy/load.ts";
import type { PolicyFile } from "../../adapters/policy/read-yaml.ts";
import { formatYaml } from "../../adapters/policy/write-yaml.ts";
import { formatProblem } from "../../core/policy/problem.ts";
import { readPolicyFile } from "../../gate/gate-policy.ts";
import { EXIT_FINDINGS, EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { fileError } from "../../process/text-files.ts";
import type { Terminal } from "../output/terminal.ts";

/** `check`: writes nothing; exits 1 if a file would change. */
export async function runFormat(
  paths: readonly string[],
  check: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const files = await Promise.all(paths.map(readPolicyFile));
  let changed = 0;
  for (const file of files) {
    const text = formatted(file);
    if (text === file.text) continue;
    changed += 1;
    if (!check) await write(file.name, text);
    await terminal.out.write(`${file.name}: ${check ? "would be formatted" : "formatted"}\n`);
  }
  return check && changed > 0 ? EXIT_FINDINGS : EXIT_OK;
}

/** @throws ExitError if the file is no valid policy: formatting could change its meaning. */
function formatted(file: PolicyFile): string {
  const before = loadPolicy([file]);
  if (!before.ok) throw usageError(before.problems.map(formatProblem));
  const text = formatYaml(file.text) ?? file.text;
  const after = loadPolicy([{ name: file.name, text }]);
  if (after.ok && after.digest === before.digest) return text;
  throw new Error(`${file.name}: formatting would change the policy; it was left as it is`);
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw fileError("write", path, error);
  }
}
