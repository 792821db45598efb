import type { Command } from "commander";
import type { Cli } from "./cli.ts";

export function addDemo(program: Command, cli: Cli): void {
  program
    .command("demo")
    .description("watch the gate decide the calls of an agent that misbehaves; takes seconds")
    .action(async () => {
      const { runDemo } = await import("../demo/run-demo.ts");
      cli.end(await runDemo(cli.terminal));
    });
}
