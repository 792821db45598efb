import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readProgramFile, readProgramFiles } from "../../../tasks/programs/read-programs.ts";

const faultOf = (text: string): string => {
  try {
    readProgramFile("mine.yaml", text);
    return "none";
  } catch (error) {
    return String(error);
  }
};

describe("a file of programs with a fault", () => {
  it.each([
    ["a: [", /mine\.yaml:1: /],
    ["# mine\na:\n  does: eat\n  examples: {}", /mine\.yaml:3: program a > does: /],
    ["a:\n  does: read\n  frob: 1\n  examples: {}", /mine\.yaml:1: program a: .*frob/],
    [
      "a:\n  does: read\n  options:\n    --x: thing\n  examples: {}",
      /:4: program a > --x: there is no kind thing: use word, value, /,
    ],
    [
      "a:\n  subcommands:\n    b:\n      operands: []\n  examples: {}",
      /:3: program a > b: needs `does`, `forms` or `subcommands`/,
    ],
    ["a:\n  does: read\n  needs: [-x]\n  examples: {}", /:1: program a: `needs` names -x/],
    ["a:\n  does: read\n  flags: [-x, -x]\n  examples: {}", /:1: program a: -x is there twice/],
    ["a:\n  does: read\n  flags: [x]\n  examples: {}", /a > x: x is not a valid option/],
    ["a:\n  does: read\n  uses: [b]\n  examples: {}", /:1: program a: there is no set b/],
    [
      "a:\n  does: read\n  operands: [a..., b]\n  examples: {}",
      /:1: program a: there is no kind a/,
    ],
    [
      "a:\n  does: read\n  operands: [rest, path]\n  examples: {}",
      /program a: `command` and `rest` take all that follows: write them last/,
    ],
    [
      "a:\n  does: read\n  operands: [path..., out...]\n  examples: {}",
      /program a: only one kind of operand may be repeated/,
    ],
    [
      "a:\n  does: read\n  also: [b]\n  examples: {}\nb:\n  does: read\n  examples: {}",
      /:5: program b: b is there twice/,
    ],
    ["a:\n  does: read", /:1: program a > examples: /],
  ])("is refused with file, line, program and key: %j", (text, fault) => {
    expect(faultOf(text)).toMatch(fault);
  });
});

it("a directory without tables is an error", () => {
  const directory = mkdtempSync(join(tmpdir(), "programs-"));
  expect(() => readProgramFiles(directory)).toThrow("has no YAML file of programs");
  rmSync(directory, { recursive: true });
});
