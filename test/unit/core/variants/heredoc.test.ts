// Bodies of here-documents: what bash would run of them is seen, and nothing else of them is read.
import { describe, expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

/** The texts of all commands; null: the line is not read. */
const textsOf = (line: string) =>
  partsOfShell(line, { session: true })?.flatMap((part) => part.texts) ?? null;

const body = (...lines: string[]) => ["cat <<EOF", ...lines, "EOF"].join("\n");

describe("a substitution in a body without quotes", () => {
  test.each([
    body("$(rm a)"),
    body("`rm a`"),
    body('"$(rm a)"'),
    body("'$(rm a)'"),
    body("it's $(rm a) \" `ls`"),
    body("\\\\$(rm a)"),
    body("$(cat <<B", "$(rm a)", "B", ")"),
    "cat <<A <<B\n$(ls)\nA\n$(rm a)\nB",
    "cat <<-EOF\n\t$(rm a)\n\tEOF",
  ])("is seen: %j", (line) => {
    expect(textsOf(line)).toContain("rm a");
  });

  test.each([body("RUN x=\\$(rm a)"), body("\\`rm a\\`"), body("\\\\\\$(rm a)")])(
    "is none behind a backslash: %j",
    (line) => {
      expect(textsOf(line)).toEqual(["cat"]);
    },
  );

  test.each([
    body("$(ls", "EOF", ")"),
    body("$(ls"),
    body("`ls"),
    body("$\\", "(rm a)"),
    "cat <<-EOF\n$\\\n\t(rm a)\n\tEOF",
    body("$" + "{X@P}"),
    body("$" + "{a[$(ls)]}"),
    body("`echo 'a'`"),
    "`cat <<EOF\nfoo`; rm x; `bar\nEOF\n`",
    "`cat <<EOF\nEOF\n$(ls)\nEOF`",
  ])("makes the line unreadable where it is not read: %j", (line) => {
    expect(textsOf(line)).toBeNull();
  });
});

test.each([body("$" + "{X:-'a'} $X $" + "{a[@]}"), body("a b"), body("\\", "a")])(
  "variables are no substitutions: %j",
  (line) => {
    expect(textsOf(line)).toEqual(["cat"]);
  },
);

test("what follows the bodies is read where it begins", () => {
  expect(textsOf("cat <<A; ls <<'B'\n$(id)\nA\n$(rm a)\nB\nps")).toEqual(["cat", "ls", "id", "ps"]);
});

test("lines in backquotes are read, and bodies with what may run are not", () => {
  const isRead = (line: string) => partsOfShell(line, { session: false }) !== null;
  expect(isRead("echo `ls\nls a`")).toBe(true);
  expect(isRead("echo `cat <<E\na\nE\n`")).toBe(true);
  expect(isRead("echo `cat <<E\n$(ls)\nE\n`")).toBe(false);
});
