import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CONFIG_KEYS, type ConfigKey } from "../../../../services/adapters/config/config-keys.ts";

const REFERENCE = readFileSync(
  new URL("../../../../docs/configuration.md", import.meta.url),
  "utf8",
);
const ROWS = REFERENCE.split("\n").filter((line) => line.startsWith("| `"));

/** As the reference has it: to be copied from here when a key is new. */
function rowOf({ name, variable, defaultText, description }: ConfigKey): string {
  const preset = defaultText === null ? "–" : `\`${defaultText}\``;
  return `| \`${name}\` | \`${variable}\` | ${preset} | ${description} |`;
}

describe("docs/configuration.md", () => {
  test.each(CONFIG_KEYS.map((key) => [key.name, key] as const))("has a row of `%s`", (_, key) => {
    expect(ROWS).toContain(rowOf(key));
  });

  test("has rows of nothing else", () => {
    const declaredRows = new Set(CONFIG_KEYS.map(rowOf));
    expect(ROWS.filter((row) => !declaredRows.has(row))).toEqual([]);
  });
});

/** Gates that differ in one of these do not fence each other, and each decides everything. */
test.each(["kafka.app", "kafka.group"])("`%s` is described as what all gates share", (name) => {
  const key = CONFIG_KEYS.find((one) => one.name === name);
  expect(key?.description).toMatch(/the same for (every gate|all)/);
});

test("every key is described, and no two are meant by one variable", () => {
  expect(CONFIG_KEYS.filter(({ description }) => description === "")).toEqual([]);
  expect(new Set(CONFIG_KEYS.map(({ variable }) => variable)).size).toBe(CONFIG_KEYS.length);
});
