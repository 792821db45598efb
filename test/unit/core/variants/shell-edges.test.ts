// Where what is looked at of a line of shell ends: each bound at its edge, and no text told twice.
import { describe, expect, test } from "vitest";
import {
  classifyShell,
  partsOfShell,
} from "../../../../services/core/variants/shell/classify-shell.ts";
import { Effort } from "../../../../services/core/variants/shell/effort.ts";
import { plainWord } from "../../../../services/core/variants/shell/names.ts";
import { parseShell } from "../../../../services/core/variants/shell/parse-shell.ts";
import { textDraft } from "../../../../services/core/variants/shell/subcommand-groups.ts";

function partsOf(line: string) {
  return partsOfShell(line, { session: false }) ?? [];
}

function textsOf(line: string): readonly string[] {
  return partsOf(line).flatMap((part) => part.texts);
}

function isSeen(line: string): boolean {
  const parts = partsOf(line);
  return parts.length > 0 && parts.every((part) => !part.hidden);
}

describe("a bound at its edge", () => {
  test("is that of the characters of a line's texts", () => {
    const isSpent = [1_048_576, 1_048_577].map((length) => {
      const effort = new Effort();
      effort.spend("x".repeat(length));
      return effort.isSpent;
    });
    expect(isSpent).toEqual([false, true]);
  });

  test("is that of the characters of one word's braces", () => {
    const line = (more: string) => `echo {a,b${more}}${"c".repeat(32_767)}`;
    expect([line(""), line("b")].map((one) => parseShell(one) !== null)).toEqual([true, false]);
  });

  test("is that of the characters of all words' braces", () => {
    const word = (length: number) => `{${",".repeat(255)}}${"c".repeat(length)} `;
    const words = `echo plain ${word(256).repeat(3)}${word(255)}`;
    const line = (more: string) => `${words}{${"c".repeat(255)}${more},c}`;
    const isRead = [line(""), line("c")].map((one) => parseShell(one) !== null);
    expect(isRead).toEqual([true, false]);
  });

  test("is that of the spellings of one command", () => {
    const draft = textDraft();
    const add = (at: number) => draft.add([plainWord("a")], [plainWord(String(at))]);
    for (let at = 0; at < 18; at += 1) add(at);
    expect([draft.commands.size, draft.isFull]).toEqual([18, false]);
    add(18);
    expect([draft.commands.size, draft.isFull]).toEqual([18, true]);
  });

  test("is that of groups in groups: of more nobody sees which command it is", () => {
    const line = (count: number) => `yarn --cwd x ${"workspace a ".repeat(count)}publish`;
    expect([4, 5].map((count) => isSeen(line(count)))).toEqual([true, false]);
    expect([4, 5].map((count) => textsOf(line(count)).includes("yarn publish"))).toEqual([
      true,
      false,
    ]);
  });

  test("is that of options before a program that are not known", () => {
    const line = (count: number) => `npx ${"--one x ".repeat(count)}deploy`;
    expect([4, 5].map((count) => isSeen(line(count)))).toEqual([true, false]);
    expect(textsOf(line(4))).toContain("deploy");
  });

  test("is that of words before `exec`", () => {
    const line = (count: number) => `${"command ".repeat(count)}exec < f; cat`;
    expect([6, 7].map((count) => partsOf(line(count)).at(-1)?.texts)).toEqual([
      ["cat", "cat f"],
      ["cat"],
    ]);
  });
});

describe("the texts of a command", () => {
  test.each([
    ["cat < a", ["cat", "cat a"]],
    ["cat < a < b", ["cat", "cat a b", "cat a", "cat b"]],
    ["< a", ["", " a", "cat a"]],
    ["exec < a", ["exec", "exec a", " a", "cat a"]],
    ["git-log", ["git-log", "git log"]],
    ["git-log < a", ["git-log", "git-log a", "git log", "git log a"]],
    [
      "yarn --cwd x workspace a publish",
      ["yarn --cwd x workspace a publish", "yarn workspace a publish", "yarn publish"],
    ],
    [
      "yarn --cwd x workspaces foreach publish",
      [
        "yarn --cwd x workspaces foreach publish",
        "yarn workspaces foreach publish",
        "yarn publish",
      ],
    ],
    ["npx @deploy", ["npx @deploy", "@deploy"]],
    ["git bisect run echo 'a; deploy'", ["git bisect run echo a; deploy", "echo a; deploy"]],
    ["git bisect run 'a; deploy'", ["git bisect run a; deploy", "a", "deploy"]],
    ["alias '=deploy x'", ["alias =deploy x", "deploy x ", "deploy x"]],
  ])("are those of %s", (line, texts) => {
    expect(textsOf(line)).toEqual(texts);
  });
});

test("an expansion is looked at as an option before the first operand of a subcommand, and not behind it", () => {
  const gaps = (line: string) => partsOf(line).flatMap((part) => part.gaps);
  expect(gaps("git push $X main")).toEqual([{ before: "git push", after: "main" }]);
  expect(gaps("git push origin $X main")).toEqual([]);
  expect(gaps("git push -o a -q $X main")).toEqual([{ before: "git push -o a -q", after: "main" }]);
  expect(gaps("docker image build --tag a $X .")).toEqual([
    { before: "docker image build --tag a", after: "." },
  ]);
  expect(gaps("git push -o=a b $X main")).toEqual([]);
  expect(gaps("git push -o a b $X main")).toEqual([]);
  expect(gaps("git push -o -- $X main")).toEqual([]);
  expect(gaps("rm -f a $X b")).toEqual([]);
});

test.each(["npx -c git", "npx --foo", "npm exec ls"])(
  "%s is a program's run, and all of it is seen",
  (line) => {
    expect([isSeen(line), classifyShell(line, { session: false })]).toEqual([true, "run"]);
  },
);

test("where an option may take the subcommand, what runs may be something else", () => {
  expect(classifyShell("npm --foo exec ls", { session: false })).toBe("write");
});
