import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../services/core/limits.ts";
import { readToolName, shownTool } from "../../../services/core/tool-name.ts";

const longest = "x".repeat(LIMITS.toolNameLength);

describe("a tool name", () => {
  test.each(["a", "send mail", "a~b", "!bang", longest])("is read as it is: %j", (name) => {
    expect(readToolName(name)).toEqual({ ok: true, name });
  });

  test("is read as its normal form, whose length counts", () => {
    expect(readToolName("\uff53end")).toEqual({ ok: true, name: "send" });
    const wide = `${"x".repeat(LIMITS.toolNameLength - 1)}\uff53`;
    expect(readToolName(wide)).toMatchObject({ ok: true });
    // One character that NFKC maps to three.
    expect(readToolName(`${"x".repeat(LIMITS.toolNameLength - 2)}\ufb03`).ok).toBe(false);
  });

  test.each(["", " a", "a ", "a`b", "a\u007f", "a\u001f", "\u00e9", `${longest}x`, 7])(
    "is none: %j",
    (text) => {
      expect(readToolName(text).ok).toBe(false);
    },
  );

  test("is shown safely and shortened in a refusal", () => {
    expect(shownTool(`${"y".repeat(63)}zz`)).toBe(`${"y".repeat(63)}z`);
    expect(shownTool("a`b\u001b[0m")).toBe("a?b?[0m");
  });
});
