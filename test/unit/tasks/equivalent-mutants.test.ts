import { describe, expect, it } from "vitest";
import equivalents from "../../mutants/equivalent.json" with { type: "json" };
import { instrument, MUTATED_FOLDERS } from "../../mutants/find-mutants.js";
import { matchEquivalents } from "../../mutants/match-equivalents.js";
import { listTextFiles, readText } from "../../support/source-tree.ts";

const CHANGE = { file: "a.ts", text: "if (a > 1) return;", from: "a > 1", to: "a >= 1" };
const WHY = "the caller never passes 1";

const sources = listTextFiles().filter(
  (path) =>
    MUTATED_FOLDERS.some((folder) => path.startsWith(`${folder}/`)) && /(?<!\.d)\.ts$/.test(path),
);

describe("test/mutants/equivalent.json", () => {
  it("names changes that exist in the sources, each with a reason", () => {
    const mutants = sources.flatMap((path) => instrument(path, readText(path), 0).mutants);
    expect(mutants.length).toBeGreaterThan(1_000);
    expect(matchEquivalents(mutants, equivalents).problems).toEqual([]);
  });
});

describe("an entry", () => {
  const mutants = [
    { ...CHANGE, line: 1 },
    { ...CHANGE, line: 9 },
  ];

  it("matches as many changes as it says", () => {
    const { ids, problems } = matchEquivalents(mutants, [{ ...CHANGE, times: 2, why: WHY }]);
    expect([...ids]).toEqual([0, 1]);
    expect(problems).toEqual([]);
  });

  it("is reported when it matches another number of changes", () => {
    const { problems } = matchEquivalents(mutants, [{ ...CHANGE, why: WHY }]);
    expect(problems).toEqual([expect.stringContaining("there are 2 such changes, not 1")]);
  });

  it("is reported without a reason", () => {
    const { problems } = matchEquivalents(mutants, [{ ...CHANGE, times: 2, why: "" }]);
    expect(problems).toEqual([expect.stringContaining("it does not say why")]);
  });
});
