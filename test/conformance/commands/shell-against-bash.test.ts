// Every command that a real Bash runs of a plain line must be one of the commands into which the gate split
// the line, with the same words and directory. Bash finds no programs here, so each command reaches a
// function that records its arguments.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseLine } from "../../../services/commands/shell/plain-line.ts";

/**
 * The home directory is called `~`, as parsed words call it. Runs each line (they end in NUL) once where all
 * commands succeed and once where all fail. Bash writes line by line, so line breaks are written as \\4:
 * the records of a pipeline's commands would mix.
 */
const RUN_LINES = `
set -f
PATH=/nonexistent HOME='~'
command_not_found_handle() {
  local record
  printf -v record '%s\\1' "$PWD" "$@" $'\\2'
  printf '%s' "\${record//$'\\n'/$'\\4'}" >&9
  return $status
}
while IFS= read -r -d '' line; do
  for status in 0 1; do (eval "$line") 9>&1 >/dev/null 2>&1 </dev/null; done
  printf '\\3'
done
`;

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "plain-lines-"));
  mkdirSync(join(root, "a/b"), { recursive: true });
});
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

/** The commands that Bash runs of each line, each as its directory and words. */
function runInBash(lines: readonly string[]): readonly (readonly string[][])[] {
  const { stdout } = spawnSync("bash", ["--norc", "-c", RUN_LINES], {
    cwd: root,
    input: lines.map((line) => `${line}\0`).join(""),
    env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" },
    encoding: "utf8",
  });
  const outputs = stdout.split("\u0003").slice(0, -1);
  expect(outputs).toHaveLength(lines.length);
  const inLines = outputs.map((output) => output.replaceAll("\u0004", "\n"));
  return inLines.map((commands) => commands.split("\u0002\u0001").slice(0, -1).map(readCommand));
}

function readCommand(text: string): string[] {
  const [workingDirectory = "", ...words] = text.split("\u0001").slice(0, -1);
  const directory = relative(root, workingDirectory) || ".";
  return [directory, ...words.map((word) => word.replaceAll(workingDirectory, "."))];
}

/** The commands of a line as `runInBash` gives them; null where the line is unclear. */
function parseCommands(text: string): string[][] | null {
  const line = parseLine(text, { assignments: new Set(["c"]), startDirectory: "." });
  if (line.kind === "unclear") return null;
  return line.commands.map(({ directory, words }) => [directory, ...words]);
}

const quotedWord = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "a",
        "b",
        "é",
        "\\ ",
        "\\'",
        '\\"',
        "\\\\",
        "\\$",
        "\\\n",
        "{",
        "}",
        "[",
        "=",
      ),
      fc.string({ unit: fc.constantFrom(...'ab "$`\\\n*{},#;') }).map((text) => `'${text}'`),
      fc
        .string({
          unit: fc.constantFrom("a", " ", "'", "\n", "*", "{a,b}", "\\\\", '\\"', "\\$", "\\a"),
        })
        .map((text) => `"${text}"`),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((pieces) => pieces.join(""));

test("quoted words become what Bash makes of them", () => {
  const words = fc.array(quotedWord, { minLength: 1, maxLength: 4 });
  const texts = fc.sample(words, 1_000).map((line) => `ab ${line.join(" ")}`);
  const bashCommands = runInBash(texts).map(([command]) => command);
  const differences = texts
    .map((text, index) => ({
      text,
      executed: bashCommands[index],
      parsed: parseCommands(text)?.[0],
    }))
    .filter(({ executed, parsed }) => JSON.stringify(executed) !== JSON.stringify(parsed));
  expect(differences).toEqual([]);
});

const PIECES = [
  ..."aaabbbc'\"\\  \n;|&(){}<>#$!~*[]=-,/1",
  ...["a ", "b ", "'a b'", '"a b"', " && ", " || ", "; ", "cd a", "cd b", "cd ..", "cd ~", "! "],
  ...[
    "( a",
    "b )",
    "{ a; ",
    "; }",
    "$HOME",
    "$PWD",
    "$(a)",
    "`a`",
    `\${a}`,
    "{a,b}",
    "<(a)",
    "$'a'",
  ],
  ...["~/a", "2>&1", "> b", "<<", "<<'a'\n", "\na\n", "\\\n", "# a\n", "c=a ", "'", '"'],
];

test("Bash runs only the commands into which a plain line was split", () => {
  const line = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 14 });
  const texts = fc
    .sample(line, 10_000)
    .map((pieces) => pieces.join(""))
    .filter((text) => !text.includes("$?") && parseCommands(text) !== null);
  const unknown = runInBash(texts).flatMap((executed, index) => {
    const text = texts[index] as string;
    const parsed = new Set(parseCommands(text)?.map((command) => JSON.stringify(command)));
    return executed
      .filter((command) => !parsed.has(JSON.stringify(command)))
      .map((command) => ({ text, command }));
  });
  expect(unknown).toEqual([]);
  expect(texts.length).toBeGreaterThan(300);
});
