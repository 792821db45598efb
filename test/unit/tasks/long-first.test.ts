import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LONG_FILES, longFirst } from "../../../tasks/long-first.js";

const ROOT = new URL("../../../", import.meta.url);

describe("long test files", () => {
  test("exist", () => {
    expect(LONG_FILES.filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([]);
  });

  test("start first, the longest before the others, and the rest keeps its order", () => {
    const [longest = "", second = ""] = LONG_FILES;
    const files = ["b.test.ts", second, "a.test.ts", longest];
    const sorted = longFirst(files, (file) => file);
    expect(sorted).toEqual([longest, second, "b.test.ts", "a.test.ts"]);
  });
});
