// Runs the commands that a page of docs/ tells to run.
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeDirectory } from "./open-gate.ts";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

/** The shell blocks of the first section with that heading, in order. */
export function stepsOf(page: string, heading: string): readonly string[] {
  const text = readFileSync(join(REPOSITORY, "docs", page), "utf8");
  const [, after = ""] = text.split(`\n${heading}\n`);
  const [section = ""] = after.split(/^#+ /m);
  return [...section.matchAll(/```sh\n([^`]*)```/g)].map(([, block = ""]) => block);
}

/** Runs a block as it is, in a directory. @throws Error with what it printed, where a step fails. */
export async function runSteps(block: string | undefined, cwd: string): Promise<string> {
  if (block === undefined) throw new Error("the page has no such steps");
  const programs = makeDirectory();
  symlinkSync(join(REPOSITORY, "bin", "callgate.js"), join(programs, "callgate"));
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"] ?? ""}` };
  return (await run("sh", ["-ec", block], { cwd, env })).stdout;
}
