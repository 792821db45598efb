import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { GENERATED_FILES } from "../../tasks/generate/generated-files.ts";

/** The formatter breaks lines and adds commas, and nothing else. */
const withoutLayout = (text: string): string => text.replaceAll(/[\s,|;()]+/g, "");

test.each(GENERATED_FILES)("$path is current (npm run schemas)", ({ path, text }) => {
  const written = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  expect(withoutLayout(written)).toBe(withoutLayout(text()));
});
