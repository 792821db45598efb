import { expect, test } from "vitest";
import { LIMITS } from "../../../services/core/limits.ts";
import { hasSpoken, isSameSpeaker, speakerProblem } from "../../../services/core/speaker.ts";

test.each([
  ["ann", "ann "],
  ["ann", "ANN"],
  ["ann lee", "Ann \t\u00a0Lee"],
  ["ann", "\uff21\uff2e\uff2e"],
  ["strauß", "STRAUSS"],
  ["zoe\u0308", "Zoë"],
  ["σίσυφος", "ΣΊΣΥΦΟΣ"],
  ["ann", "a\u200bnn\u2800"],
])("%j and %j are one name", (one, other) => {
  expect(isSameSpeaker(one, other)).toBe(true);
  expect(hasSpoken(["ben", one], other)).toBe(true);
});

test.each([
  ["ann", "anna"],
  ["annlee", "ann lee"],
  ["zoe", "zoë"],
])("%j and %j are two names", (one, other) => {
  expect(isSameSpeaker(one, other)).toBe(false);
  expect(hasSpoken([one], other)).toBe(false);
});

test("a name may be as long as an id, and no longer", () => {
  expect(speakerProblem("n".repeat(LIMITS.speakerLength))).toBeUndefined();
  expect(speakerProblem("n".repeat(LIMITS.speakerLength + 1))).toContain("is longer than");
});

test.each(["ann", " Ann Lee ", "Zoë, Bob", "日本", "😀"])("%j is accepted as a name", (name) => {
  expect(speakerProblem(name)).toBeUndefined();
});

test.each(["", " ", "\u00a0", "\u3164"])("%j is refused as a name", (name) => {
  expect(speakerProblem(name, "--by")).toBe(
    "a verdict needs `--by`, the name of the person who gives it",
  );
});

test.each(["a\u200bb", "a\u0000", "ann\n", "a\u202eb", "a\u2800b", "a\ufe0f", "a\ud800"])(
  "%j is refused for its hidden characters",
  (name) => {
    expect(speakerProblem(name)).toContain("`by` has characters that nobody sees");
  },
);
