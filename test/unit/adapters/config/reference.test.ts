import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CONFIG_KEYS, type ConfigKey } from "../../../../services/adapters/config/config-keys.ts";

const REFERENCE = readFileSync(
  new URL("../../../../docs/configuration.md", import.meta.url),
  "utf8",
);
const ROWS = REFERENCE.split("\n").filter((line) => line.startsWith("| `"));

/** The row of a key in the reference; copy it from here for a new key. */
function rowOf({ name, variable, defaultText, description }: ConfigKey): string {
  const preset = defaultText === null ? "–" : `\`${defaultText}\``;
  return `| \`${name}\` | \`${variable}\` | ${preset} | ${description} |`;
}

describe("docs/configuration.md", () => {
  test.each(CONFIG_KEYS.map((key) => [key.name, key] as const))("has a row of `%s`", (_, key) => {
    expect(ROWS).toContain(rowOf(key));
  });

  test("has no other rows", () => {
    const declaredRows = new Set(CONFIG_KEYS.map(rowOf));
    expect(ROWS.filter((row) => !declaredRows.has(row))).toEqual([]);
  });
});

/** Gates with different values do not fence each other, and each decides every call. */
test.each(["kafka.app", "kafka.group"])("describes `%s` as the same for all gates", (name) => {
  const key = CONFIG_KEYS.find((one) => one.name === name);
  expect(key?.description).toMatch(/the same for (every gate|all)/);
});

test("every key has a description and a variable of its own", () => {
  expect(CONFIG_KEYS.filter(({ description }) => description === "")).toEqual([]);
  expect(new Set(CONFIG_KEYS.map(({ variable }) => variable)).size).toBe(CONFIG_KEYS.length);
});
