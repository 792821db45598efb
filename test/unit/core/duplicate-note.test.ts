import { describe, expect, it } from "vitest";
import {
  cutResult,
  DUPLICATE_NOTE_START,
  writeDuplicateNote,
} from "../../../services/core/duplicate-note.ts";

describe("the note of a duplicate", () => {
  const sentence = "This tool call was already made in this turn with identical arguments";

  it("tells where the call was made and what came of it", () => {
    expect(writeDuplicateNote("in this turn", '"made"')).toBe(`${sentence}. Result was: "made"`);
    expect(sentence.startsWith(DUPLICATE_NOTE_START)).toBe(true);
  });

  it("is cut before its result, whatever that says", () => {
    for (const result of ["", '"made"', '"a. Result was: b"', "not kept"]) {
      expect(cutResult(writeDuplicateNote("in this turn", result))).toBe(sentence);
    }
  });

  it("stays as it is where it has no result", () => {
    expect(cutResult(sentence)).toBe(sentence);
    expect(cutResult(". Result was: nothing else")).toBe("");
  });
});
