import { Argument, type Command } from "commander";
import { EXIT_OK } from "../../process/exit-error.ts";
import {
  commandTree,
  renderCompletion,
  SHELLS,
  type Shell,
} from "../completion/render-completion.ts";
import type { Cli } from "./cli.ts";

/** Add it last: it describes all commands that exist by then. */
export function addCompletion(program: Command, cli: Cli): void {
  program
    .command("completion")
    .description("print a script that completes commands and options; source it in your shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action(async (shell: Shell) => {
      await cli.terminal.out.write(renderCompletion(commandTree(program), shell));
      cli.end(EXIT_OK);
    });
}
