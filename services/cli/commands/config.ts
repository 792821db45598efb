import type { Command } from "commander";
import { addConfigOption, addJsonOption, type Cli, type ConfigOptions } from "./cli.ts";

export function addConfig(program: Command, cli: Cli): void {
  const config = program.command("config").description("check and print the configuration");
  const print = config
    .command("print")
    .description("check the configuration and print every key, secrets masked");
  addJsonOption(addConfigOption(print)).action(async (options: ConfigOptions & { json?: true }) => {
    const { printConfig } = await import("../process/print-config.ts");
    cli.end(await printConfig(options.config, options.json === true, cli.terminal));
  });
}
