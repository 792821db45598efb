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

  test("a glob can fit every program, and texts fit those that they begin with", () => {
    expect(PROGRAMS.filter(compileCanFit({ like: "rm *" }))).toEqual(PROGRAMS);
    expect(PROGRAMS.filter(compileCanFit({ equals: ["git push", "make"] }))).toEqual([
      "git",
      "make",
    ]);
  });
});
