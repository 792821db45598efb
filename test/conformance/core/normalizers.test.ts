// Checks every normalizer against its table of cases, and in other time zones and languages.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { NORMALIZER_NAMES } from "../../../services/core/normalize/compile-normalizers.ts";
import { normalizerTables, runChain } from "../../support/core/normalizer-tables.ts";

const tables = normalizerTables();

it("has a table for every normalizer", () => {
  expect([...new Set(tables.map(({ name }) => name))].sort()).toEqual([...NORMALIZER_NAMES].sort());
});

describe.each(tables)("$chain", ({ chain, gives, refuses }) => {
  it.each(gives)("turns %j into %j", (value, expected) => {
    expect(runChain(chain, value)).toEqual({ ok: true, value: expected });
  });

  it.each(refuses.map((value) => [value]))("refuses %j", (value) => {
    const result = runChain(chain, value);
    expect(result.ok).toBe(false);
    // The problem does not contain the value, which may be a secret.
    if (!result.ok) expect(result.message).toMatch(/^`\w+` needs /);
  });

  // `minor_units` changes the unit, `hash` and `json` the type: they are not meant to be applied
  // twice.
  const oneWay = ["minor_units", "hash", "json"].some((name) => chain[0]?.startsWith(name));
  if (oneWay || chain.length > 1) return;
  it("leaves its own result as it is", () => {
    const results = gives.map(([, expected]) => expected);
    const again = results.map((result) => runChain(chain, result));
    const texts = chain[0] === "to_string";
    expect(again).toEqual(
      results.map((result) => ({ ok: true, value: texts ? String(result) : result })),
    );
  });
});

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL("../../support/core/print-normalized.ts", import.meta.url));

async function printed(env: Readonly<Record<string, string>>): Promise<string> {
  const { PATH = "" } = process.env;
  const { stdout } = await run(process.execPath, ["--import", "tsx", PROGRAM], {
    env: { PATH, ...env },
  });
  return stdout;
}

it("gives the same bytes in every time zone and language", async () => {
  const here = await printed({ TZ: "UTC", LANG: "C" });
  expect(here.split("\n").length).toBeGreaterThan(300);
  expect(await printed({ TZ: "Pacific/Apia", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" })).toBe(
    here,
  );
  expect(await printed({ TZ: "America/St_Johns", LANG: "ja_JP.UTF-8" })).toBe(here);
}, 60_000);
