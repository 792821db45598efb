import { describe, expect, test } from "vitest";
import { isIdText } from "../../../services/core/id-text.ts";
import { LIMITS } from "../../../services/core/limits.ts";

describe("an id", () => {
  test.each([
    "c-17",
    " ~!/",
    "Gespräch 7",
    "会話",
    "😀",
    "x".repeat(LIMITS.idBytes),
    "ü".repeat(LIMITS.idBytes / 2),
    "語".repeat(Math.floor(LIMITS.idBytes / 3)),
    "😀".repeat(LIMITS.idBytes / 4),
  ])("may be %j", (text) => {
    expect(isIdText(text)).toBe(true);
  });

  test.each([
    ["is empty", ""],
    ["has a byte too many", "x".repeat(LIMITS.idBytes + 1)],
    ["has a byte too many with two a letter", `x${"ü".repeat(LIMITS.idBytes / 2)}`],
    ["has a byte too many with four a letter", `x${"😀".repeat(LIMITS.idBytes / 4)}`],
    ["has a letter and its accent apart", "u\u0308"],
    ["has a sign that NFC writes as another one", "\u212b"],
    ["has a line break", "a\nb"],
    ["has a null character", "a\u0000"],
    ["ends with a delete character", "a\u007f"],
    ["has a control of the second block", "ü\u0085"],
    ["has a line separator", "a\u2028b"],
    ["has a paragraph separator", "a\u2029b"],
    ["turns the direction of writing", "a\u202eb"],
    ["has half a surrogate pair", "a\ud83d"],
  ])("is refused where it %s", (_, text) => {
    expect(isIdText(text)).toBe(false);
  });
});
