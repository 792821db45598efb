import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openPrograms } from "../../../../services/adapters/programs/load-programs.ts";
import { formatPrograms } from "../../../../tasks/programs/format-programs.ts";
import { readProgramFile, readProgramFiles } from "../../../../tasks/programs/read-programs.ts";
import { doesOfLine } from "../../../support/commands/forms.ts";

const DIRECTORY = new URL("../../../../services/commands/programs/", import.meta.url);
const PROGRAMS = Object.entries(readProgramFiles(fileURLToPath(DIRECTORY)));

describe.each(PROGRAMS)("the examples of %s", (name, { examples = {}, loose = false }) => {
  it.each(Object.entries(examples))("%s: %s", (line, does) => {
    expect(doesOfLine(line)).toBe(does);
  });

  it("show each name of the program or one of them, and a line that is not understood", () => {
    const hasExample = name.split("|").some((one) => {
      const begins = Object.keys(examples).some((line) => line.startsWith(one.trim()));
      return begins || one.trim() === "command";
    });
    expect(hasExample).toBe(true);
    expect(loose || Object.values(examples).includes("unknown")).toBe(true);
  });
});

it("are loaded as the files describe them (otherwise run `npm run programs`)", () => {
  const written = readFileSync(new URL("../programs.json", DIRECTORY), "utf8");
  expect(written === formatPrograms(Object.fromEntries(PROGRAMS))).toBe(true);
});

it("the tables have at least 200 programs", () => {
  expect(PROGRAMS.flatMap(([name]) => name.split("|")).length).toBeGreaterThan(200);
});

it("each page has an example that does what it says", () => {
  const page = readFileSync(new URL("../../../../docs/commands.md", import.meta.url), "utf8");
  const text = /```yaml\n(shelf:[\s\S]*?)```/.exec(page)?.[1] ?? "";
  const specs = readProgramFile("shelf.yaml", text);
  const examples = Object.entries(specs["shelf"]?.examples ?? {});
  const programs = openPrograms(specs);
  expect(examples.length).toBeGreaterThan(4);
  expect(examples.map(([line]) => [line, doesOfLine(line, programs)])).toEqual(examples);
});
