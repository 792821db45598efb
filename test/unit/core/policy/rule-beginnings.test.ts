// Of which programs a rule can be about: one that is left out by mistake would let a command pass.
import { describe, expect, test } from "vitest";
import { compileCanFit } from "../../../../services/core/policy/rule-beginnings.ts";

const PROGRAMS = ["git", "npm", "make"];
const fitting = (match: string) => PROGRAMS.filter(compileCanFit({ match }));

describe("a rule that names programs where its texts begin", () => {
  test.each([
    ["^git push", ["git"]],
    ["^git$", ["git"]],
    ["^git\\b", ["git"]],
    ["^gi", ["git"]],
    ["^git (push|(subtree|lfs) push)", ["git"]],
    ["^(?:npm|git) (run )?publish", ["git", "npm"]],
    ["^npm (a|b)|^make b", ["npm", "make"]],
    ["^rm (.* )?[/~|]|^rm \\(\\|", []],
    ["^rm (.* )?[*?[|]|^git a[[|]", ["git"]],
    ["^gitk", []],
    ["^(npm-|pnpm)", []],
  ])("%s can fit these alone", (match, expected) => {
    expect(fitting(match)).toEqual(expected);
  });
});

describe("a rule of which that cannot be told", () => {
  test.each([
    "push",
    "^.*push",
    "^(?i)rm",
    "^(a|b)?",
    "^(a|b)*x",
    "^x?",
    "^x*git",
    "^x{0}git",
    "^*git",
    "^rm|push",
    "^rm|",
    "(^rm)",
    "^[r]m",
    "^\\w+ push",
    "^\\Qrm\\E",
    "(?m)^rm",
    "[]]|^rm",
    "^rm [[:alpha:]|]x",
    "^rm [|[:alpha:]|]x",
  ])("%s can fit every program", (match) => {
    expect(fitting(match)).toEqual(PROGRAMS);
  });

  test.each(["*push", "rm *|*", "rm *|"])("the globs %s, too", (like) => {
    expect(PROGRAMS.filter(compileCanFit({ like }))).toEqual(PROGRAMS);
  });
});

test("of a group those count that name it, or less", () => {
  const fits = (match: string) => compileCanFit({ match })("npm run");
  expect(["^npm", "^npm (test|run a)", "^npm run (a|b c)", "^(x|npm run) "].map(fits)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["^npm (test|publish a)", "^npm runs", "^(x|npm test) "].map(fits)).toEqual([
    false,
    false,
    false,
  ]);
});

test("groups in groups, and those that may be left out, are told apart", () => {
  const fits = (match: string, program: string) => compileCanFit({ match })(program);
  const match = "^((npm|pnpm) run )?(git|x) (a (b|c)|run d)";
  expect(["git", "npm", "npm run", "make", "npm test"].map((one) => fits(match, one))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(["git a", "git run", "git b"].map((one) => fits(match, one))).toEqual([true, true, false]);
  expect(["git a", "git b"].map((one) => fits("^git (a )+b", one))).toEqual([true, false]);
  expect(fits("^git (a )*b", "git c")).toBe(true);
});

test("of too many that a pattern has, what they begin with counts", () => {
  const many = "(a|b|c|d|e|f|g|h|i|j)".repeat(4);
  expect(PROGRAMS.filter(compileCanFit({ match: `^git ${many}` }))).toEqual(["git"]);
});

test("8,192 beginnings are told apart, and of one more what they have in common counts", () => {
  const fits = (first: number, second: string, program: string) => {
    const numbers = Array.from({ length: first }, (_, at) => String(at).padStart(4, "0"));
    return compileCanFit({ match: `^git (${numbers.join("|")})(${second})` })(program);
  };
  expect([fits(4_096, "a|b", "git 0000a"), fits(4_096, "a|b", "git 0000c")]).toEqual([true, false]);
  expect([fits(2_731, "a|b|c", "git 0000d"), fits(2_731, "a|b|c", "git 9999a")]).toEqual([
    true,
    false,
  ]);
});

test("texts fit the programs that they begin with", () => {
  expect(PROGRAMS.filter(compileCanFit({ equals: ["git push", "make"] }))).toEqual(["git", "make"]);
});

test.each([
  ["rm *", []],
  ["git push*", ["git"]],
  ["gi*|make", ["git", "make"]],
  ["rm * | npm *sh", ["npm"]],
  ["git?push", []],
])("the globs %s fit those that they begin with before the first star", (like, expected) => {
  expect(PROGRAMS.filter(compileCanFit({ like }))).toEqual(expected);
});

test("a rule that says several things fits no program that one of them does not", () => {
  const fits = compileCanFit({ match: "^(git|npm) ", like: "git *|make *" });
  expect(PROGRAMS.filter(fits)).toEqual(["git"]);
});
