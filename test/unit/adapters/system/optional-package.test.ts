import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadOptional } from "../../../../services/adapters/system/optional-package.ts";

describe("an optional package", () => {
  it("is loaded where it is installed", () => {
    const yaml = loadOptional<typeof import("yaml")>("yaml");
    expect(yaml.ok && yaml.loaded.parse("a: 1")).toEqual({ a: 1 });
  });

  it("is reported with a remedy where it is not installed", () => {
    expect(loadOptional("callgate-not-there")).toMatchObject({
      ok: false,
      problem:
        "the optional package callgate-not-there is not installed: run `npm install` without `--omit=optional`",
    });
  });

  it("is reported with the reason where it cannot be loaded", () => {
    // A module whose own dependency is missing, as a native part may be.
    const path = join(mkdtempSync(join(tmpdir(), "callgate-optional-")), "incomplete.cjs");
    writeFileSync(path, 'require("not-there-either");');
    expect(loadOptional(path)).toMatchObject({
      ok: false,
      problem: expect.stringMatching(
        / cannot be loaded \(Cannot find module 'not-there-either'\): /,
      ),
    });
  });
});
