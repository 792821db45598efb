import { describe, expect, it } from "vitest";
import { isRefused, type Refused, toModel } from "../../../services/client/api/refused.ts";

const MODEL_TEXT_MAX = 700;
const short = { refused: true, reason: "duplicate_call", callId: "c", message: "You did this." };

describe("isRefused", () => {
  it.each([
    ["a result of a tool that refuses by itself", { refused: true, reason: "no money" }],
    ["a reason that is not ours", { ...short, reason: "too_late" }],
    ["a reason that every object has", { ...short, reason: "toString" }],
    ["a refusal that says it is none", { ...short, refused: false }],
    ["a refusal without a call", { ...short, callId: undefined }],
    ["null", null],
    ["text", JSON.stringify(short)],
  ])("is false for %s", (_what, answer) => {
    expect(isRefused(answer)).toBe(false);
  });

  it("is true for a refusal that was JSON", () => {
    expect(isRefused(JSON.parse(JSON.stringify(short)))).toBe(true);
  });
});

describe("toModel", () => {
  const ofMessage = (message: string) => toModel({ message } as Refused);

  it("is the message", () => {
    expect(ofMessage("x".repeat(MODEL_TEXT_MAX))).toBe("x".repeat(MODEL_TEXT_MAX));
  });

  it("ends a longer message at the limit, and never within a character", () => {
    const text = ofMessage("😀".repeat(MODEL_TEXT_MAX));
    expect(text.length).toBeLessThanOrEqual(MODEL_TEXT_MAX);
    expect(text).toMatch(/^(😀)+…$/u);
  });
});
