import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refuseOverwriting } from "../../../../services/cli/output/result-writer.ts";

let directory = "";
const at = (name: string): string => join(directory, name);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-out-"));
  writeFileSync(at("calls.jsonl"), "{}\n");
  writeFileSync(at("other.jsonl"), "{}\n");
  symlinkSync(at("calls.jsonl"), at("symbolic.jsonl"));
  linkSync(at("calls.jsonl"), at("hard.jsonl"));
  symlinkSync(directory, at("folder"));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe("a result file that the command also reads", () => {
  it.each(["calls.jsonl", "symbolic.jsonl", "hard.jsonl", "folder/calls.jsonl"])(
    "is refused if given as %s",
    (out) => {
      const inputs = [at("other.jsonl"), relative(process.cwd(), at("calls.jsonl"))];
      expect(() => refuseOverwriting(at(out), inputs)).toThrow(/would be lost/);
    },
  );

  it("is not confused with any other file", () => {
    const inputs = [at("calls.jsonl"), "-", at("is-not-there")];
    expect(() => refuseOverwriting(at("other.jsonl"), inputs)).not.toThrow();
    expect(() => refuseOverwriting(at("new.jsonl"), inputs)).not.toThrow();
    expect(() => refuseOverwriting(undefined, inputs)).not.toThrow();
  });
});
