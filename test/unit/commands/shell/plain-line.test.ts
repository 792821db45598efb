import { describe, expect, test } from "vitest";
import { isDangerousVariable } from "../../../../services/commands/shell/command-draft.ts";
import {
  type ParsedLine,
  type PlainCommand,
  parseLine,
} from "../../../../services/commands/shell/plain-line.ts";

const parse = (text: string, startDirectory = "."): ParsedLine =>
  parseLine(text, { assignments: new Set(["CI", "PATH"]), startDirectory });

function commandsOf(text: string, startDirectory?: string): readonly PlainCommand[] {
  const line = parse(text, startDirectory);
  if (line.kind === "unclear") throw new Error(`${text}: ${line.reason}`);
  return line.commands;
}

const wordsOf = (text: string): readonly string[] => commandsOf(text)[0]?.words ?? [];
const reasonOf = (text: string): string => {
  const line = parse(text);
  return line.kind === "unclear" ? line.reason : `plain: ${JSON.stringify(line)}`;
};

describe("words", () => {
  test("are literal after unquoting", () => {
    expect(wordsOf(`a\\ b 'c d'"e \\$f"\\'g "" \\\n h`)).toEqual(["a b", `c de $f'g`, "", "h"]);
    expect(wordsOf("grep foo$ '$x' HEAD@{1} {} a#b # c")).toEqual(
      "grep foo$ $x HEAD@{1} {} a#b".split(" "),
    );
  });

  test("report patterns in them", () => {
    const [command] = commandsOf("ls *.ts 'a*' [ab] a\\*");
    expect(command?.words).toEqual(["ls", "*.ts", "a*", "[ab]", "a*"]);
    expect([...(command?.globs ?? [])]).toEqual([1, 3]);
  });

  test("contain the home and the current directory, in a spelling that no literal word has", () => {
    const [command] = commandsOf(`ls $HOME/x ~/y "$PWD/z" $(pwd) --to=$HOME '~/x' $?`);
    expect(command?.words).toEqual(["ls", "~/x", "~/y", "./z", ".", "--to=~", "~/x", "$?"]);
    expect(command?.expansions).toEqual("~/x|~/y|$PWD/z|$PWD|--to=~|\\~/x|$?".split("|"));
  });

  test.each(["$HOMEx", `\${HOME}x`, "a$HOME", "../..$PWD/x", `"$PWD".`, "~ana/x", "~+"])(
    "are unclear where a directory's name is part of another name: %s",
    (word) => {
      expect(parse(`ls ${word}`).kind).toBe("unclear");
    },
  );
});

describe("joints and redirections", () => {
  test("are listed in order", () => {
    const line = parse("! a | b && (c; d) || { e; } > f\ng");
    expect(line).toMatchObject({
      joints: ["!", "|", "&&", "(", ";", ")", "||", "{", "}", ">", ";"],
    });
  });

  test("name files, not descriptors", () => {
    const [command] = commandsOf("a <in >out 2>&1 >/dev/null &>>all");
    expect(command?.redirections).toEqual([
      { text: "0<in", path: "in", access: "read" },
      { text: "1>out", path: "out", access: "write" },
      { text: "2>&1", path: null, access: "write" },
      { text: "1>/dev/null", path: null, access: "write" },
      { text: "1&>>all", path: "all", access: "write" },
    ]);
    expect(commandsOf("> f")[0]).toMatchObject({ words: [":"], redirections: [{ path: "f" }] });
    expect(commandsOf("cat <>f")[0]?.redirections).toMatchObject([{ path: "f", access: "write" }]);
  });

  test("have no descriptor on the line before", () => {
    expect(parse("1\\\n> f rm x")).toMatchObject({ kind: "unclear" });
    expect(parse("ls \\\n > f")).toMatchObject({ kind: "plain" });
  });

  test("by `>&` take no text that Bash would expand a second time", () => {
    expect(commandsOf("make >& build/log.txt")[0]?.redirections).toMatchObject([
      { path: "build/log.txt", access: "write" },
    ]);
    for (const target of [
      "'$(a)'",
      "'<(a)'",
      '"x`a`"'.replaceAll("`", "\\`"),
      "x\\$\\(a\\)",
      "~",
    ]) {
      expect(parse(`make >&${target}`)).toMatchObject({ kind: "unclear" });
    }
  });

  test("take a here-document as data where the shell expands nothing in it", () => {
    const [command, next] = commandsOf("cat <<'E' >f\n$(x) `y`\nE\nls");
    expect(command).toMatchObject({
      words: ["cat"],
      redirections: [{ text: "<<$(x) `y`\n", path: null }, { path: "f" }],
    });
    expect(next?.words).toEqual(["ls"]);
    expect(commandsOf("cat <<-E\n\tplain\n\tE\n")[0]?.redirections).toMatchObject([
      { text: "<<plain\n" },
    ]);
    expect(reasonOf("cat <<E\n$x\nE")).toContain("quote its delimiter");
    expect(reasonOf("cat <<'E'\nx")).toContain("without an end");
  });
});

describe("the directory", () => {
  const directoriesOf = (text: string, start?: string): readonly string[] =>
    commandsOf(text, start)
      .filter(({ words }) => words[0] === "ls")
      .map(({ directory }) => directory);

  test.each([
    ["cd a && cd ../b && ls", ["b"]],
    ["cd a; ls", ["a", "."]],
    ["cd a || cd b; ls", ["a", "b", "."]],
    ["! cd a && ls", ["."]],
    ["(cd a && ls) && ls", ["a", "."]],
    ["{ cd a && ls; } && ls", ["a", "a"]],
    ["cd a | ls; ls", [".", "."]],
    ["cd && ls", ["~"]],
    ["cd ~/a/.. && ls", ["~"]],
    ["cd /a/../../b && ls", ["/b"]],
    ['cd "$(git rev-parse --show-toplevel)" && ls', ["."]],
    // Outside a repository the words are empty: `cd` goes home, `cd ""` stays.
    ["cd $(git rev-parse --show-toplevel) && ls", [".", "~"]],
  ])("is followed through %s", (text, directories) => {
    expect(directoriesOf(text)).toEqual(directories);
  });

  test("starts at the directory of the policy", () => {
    expect(directoriesOf("ls && cd .. && ls", "packages/./a/")).toEqual(["packages/a", "packages"]);
  });

  test.each(["cd -", "cd a b", "cd -P a", "cd a*", "pushd a", "cd a; cd b; cd c; ls"])(
    "makes the line unclear where it cannot be determined: %s",
    (text) => {
      expect(parse(text).kind).toBe("unclear");
    },
  );
});

describe("assignments", () => {
  test("are limited to a list in the policy", () => {
    expect(commandsOf("CI=1 npm test")[0]).toMatchObject({
      words: ["npm", "test"],
      assignments: [{ name: "CI", value: "1" }],
    });
    expect(wordsOf("export CI=1")).toEqual(["export", "CI=1"]);
    for (const text of ["X=1 ls", "CI+=1 ls", "CI=1", "export X=1", "CI=(a) ls", "CI=$x ls"])
      expect(parse(text).kind).toBe("unclear");
  });

  test("never change which program runs, whatever the policy lists", () => {
    expect(parse("PATH=. ls").kind).toBe("unclear");
    for (const name of ["LD_PRELOAD", "GIT_SSH", "NODE_OPTIONS", "BASH_ENV", "HOME", "PAGER"])
      expect(isDangerousVariable(name)).toBe(true);
    for (const name of ["CI", "NODE_ENV", "DEBUG", "FORCE_COLOR"])
      expect(isDangerousVariable(name)).toBe(false);
  });
});

test("a dollar before the end of a continued line is unclear, whatever the next line makes of it", () => {
  for (const text of ["$\\\n'a b'", "ls $\\\nHOME", 'ls "$\\\nHOME"'])
    expect(parse(text).kind).toBe("unclear");
  expect(parse("ls \\\n a").kind).toBe("plain");
});

describe("a reason", () => {
  test.each([
    ["ls $(rm x)", 'the command substitution "$(rm x)" at character 4'],
    ["ls && x & y", "a background job at character 1"],
    ["for a in b; do c; done", "a loop at character 1"],
    ["echo > /dev/tcp/h/1", 'the network connection "/dev/tcp/h/1" at character 6'],
    ["eval ls", 'a builtin that changes the shell, "eval" at character 1'],
    ["a )", "a shell cannot read it at character 3: unexpected token ')'"],
    ["ls \0", "the line holds a NUL or half a character"],
  ])("says what is unclear, and where: %j", (text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  test("contains no character that reverses text or breaks a quotation", () => {
    expect(reasonOf("ls $(\u202e\u001b`)`)")).not.toMatch(/[`\p{C}]/u);
  });
});
