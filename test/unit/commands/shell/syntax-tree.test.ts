// Properties that the gate needs from the library that parses shell lines. A new version of it must
// pass.
import { expect, test } from "vitest";
import { parseLine } from "../../../../services/commands/shell/plain-line.ts";
import { parseTree } from "../../../../services/commands/shell/syntax-tree.ts";

const typeOf = (text: string): string => {
  const tree = parseTree(text);
  if (tree.kind === "unclear") return "unclear";
  return tree.script.commands.map(({ command }) => command.type).join(" ");
};

test.each([
  ["a b", "Command"],
  ["a; b", "Command Command"],
  ["a | b", "Pipeline"],
  ["! a", "Pipeline"],
  ["time a", "Pipeline"],
  ["a && b || c", "AndOr"],
  ["( a )", "Subshell"],
  ["{ a; }", "BraceGroup"],
  ["{ a; } > b", "Redirected"],
  ["if a; then b; fi", "If"],
  ["for a in b; do c; done", "For"],
  ["for ((;;)); do c; done", "ArithmeticFor"],
  ["while a; do b; done", "While"],
  ["case a in b) ;; esac", "Case"],
  ["select a in b; do c; done", "Select"],
  ["a() { b; }", "Function"],
  ["function a { b; }", "Function"],
  ["coproc a", "Coproc"],
  ["[[ a ]]", "TestCommand"],
  ["((a))", "ArithmeticCommand"],
])("the parser reads %s as Bash does", (text, type) => {
  expect(typeOf(text)).toBe(type);
});

test.each(["a ;; b", "a )", "a |", "&& a", "a < ", "'a", '"a', "$(a", "`a", "if a", "( a", "{ a"])(
  "the parser refuses what Bash refuses: %s",
  (text) => {
    expect(typeOf(text)).toBe("unclear");
  },
);

test("the parser leaves no word inside a word, and no operator, out of the tree", () => {
  const options = { assignments: new Set<string>(), startDirectory: "." };
  for (const text of ["ls (", "deploy (", "/<(curl u)", "a(b", "a ( b )", "a { b; }; }"])
    expect(parseLine(text, options)).toMatchObject({ kind: "unclear" });
});

test("the parser only gets bounded lines", () => {
  const openings = [
    "$(",
    '"$(',
    "`",
    "${",
    "<(",
    "(",
    "{ ",
    "((",
    "[[ ( ",
    "$((",
    "if ",
    "a() ",
    "coproc ",
  ];
  for (const opening of openings) expect(typeOf(opening.repeat(20_000))).toBe("unclear");
  expect(typeOf("cat <<A ".repeat(300))).toBe("unclear");
  expect(typeOf("a;".repeat(20_000))).toBe("unclear");
  expect(typeOf("a".repeat(65_537))).toBe("unclear");
  expect(typeOf("a".repeat(65_536))).toBe("Command");
  expect(typeOf("ls \ud800")).toBe("unclear");
});
