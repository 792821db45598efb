import type { Command } from "commander";
import { EXIT_OK } from "../../process/exit-error.ts";
import { addConfigOption, addJsonOption, type Cli, type ConfigOptions } from "./cli.ts";

export function addConfig(program: Command, cli: Cli): void {
  const config = program.command("config").description("check and print the configuration");
  const print = config
    .command("print")
    .description("check the configuration and print every key, secrets masked");
  addJsonOption(addConfigOption(print)).action(async (options: ConfigOptions & { json?: true }) => {
    const { openConfig } = await import("../../process/open-config.ts");
    const { maskedConfig } = await import("../../adapters/config/masked-config.ts");
    const { writeYaml } = await import("../../adapters/policy/write-yaml.ts");
    const shown = maskedConfig(openConfig(options.config, []));
    await cli.terminal.out.write(options.json ? `${JSON.stringify(shown)}\n` : writeYaml(shown));
    cli.end(EXIT_OK);
  });
}
