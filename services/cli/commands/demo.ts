import type { Command } from "commander";
import { addJsonOption, type Cli } from "./cli.ts";

export function addDemo(program: Command, cli: Cli): void {
  const command = program
    .command("demo")
    .description("watch the gate decide the calls of an agent that misbehaves; takes seconds");
  addJsonOption(command).action(async ({ json }: { readonly json?: true }) => {
    const { runDemo } = await import("../demo/run-demo.ts");
    cli.end(await runDemo(json === true, cli.terminal));
  });
}
