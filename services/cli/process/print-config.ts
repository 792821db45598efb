import { maskedConfig } from "../../adapters/config/masked-config.ts";
import { writeYaml } from "../../adapters/policy/write-yaml.ts";
import { EXIT_OK, type ExitCode } from "../output/exit-codes.ts";
import type { Terminal } from "../output/terminal.ts";
import { openConfig } from "./open-config.ts";

/** @throws CliError that lists every problem of the configuration. */
export async function printConfig(
  file: string | undefined,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const shown = maskedConfig(openConfig(file, []));
  await terminal.out.write(json ? `${JSON.stringify(shown)}\n` : writeYaml(shown));
  return EXIT_OK;
}
