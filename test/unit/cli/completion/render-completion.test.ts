// Tests the bash script in bash, and all scripts by their content.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runInProcess(["completion", shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

/** What bash offers for the last word. */
async function completed(...words: string[]): Promise<readonly string[]> {
  const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${words.length - 1}
_callgate
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const input = `${await script("bash")}\n${ask}\n`;
  const output = execFileSync("bash", ["--norc", "-s"], { input, encoding: "utf8" });
  return output.split("\n").filter((line) => line !== "");
}

describe("in bash", () => {
  it("offers commands, then subcommands, then options", async () => {
    expect(await completed("callgate", "pol")).toEqual(["policy"]);
    expect(await completed("callgate", "policy", "")).toEqual(
      expect.arrayContaining(["import", "lint", "test", "fmt", "graph", "new", "explain"]),
    );
    expect(await completed("callgate", "policy", "test", "--req")).toEqual(["--require-coverage"]);
  });

  it("offers the choices of options and arguments, and skips values of options", async () => {
    expect(await completed("callgate", "replay", "--format", "json")).toEqual(["jsonl", "json"]);
    expect(await completed("callgate", "completion", "f")).toEqual(["fish"]);
    expect(await completed("callgate", "replay", "policy", "--hel")).toEqual(["--held"]);
    expect(await completed("callgate", "replay", "--policy", "")).toEqual([]);
  });
});

describe.each(["bash", "zsh", "fish"])("for %s", (shell) => {
  it("contains every command of the program", async () => {
    const { stdout } = await runInProcess(["--help"]);
    const names = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[options\]| \[command\]| <| {2})/gm)];
    const text = await script(shell);

    expect(names.length).toBeGreaterThan(15);
    for (const [, name = ""] of names) {
      if (name !== "help") expect(text).toMatch(new RegExp(`[/ ('"]${name}\\b`));
    }
  });

  it("is deterministic", async () => {
    expect(await script(shell)).toBe(await script(shell));
  });
});

it("refuses an unknown shell", async () => {
  const { code, stderr } = await runInProcess(["completion", "csh"]);

  expect(code).toBe(2);
  expect(stderr).toContain("Allowed choices are bash, zsh, fish");
});
