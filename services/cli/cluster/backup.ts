/** `callgate backup`: copies a data directory, even while a gate runs on it. */
import { backUpDirectory } from "../../process/directory/back-up-directory.ts";
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import type { Terminal } from "../output/terminal.ts";

export async function runBackup(
  dataDir: string,
  target: string,
  { out }: Terminal,
): Promise<ExitCode> {
  await backUpDirectory(dataDir, target);
  await out.write(
    `${target} holds a copy of ${dataDir}, including its secret: keep it where only you can read it\n`,
  );
  return EXIT_OK;
}
