import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sharedData } from "../../support/shared-data.ts";

const ABSENT = "no-such-set/none.jsonl";

describe("shared data", () => {
  let scratch = "";
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "callgate-shared-"));
    vi.stubEnv("CALLGATE_SKIP_LOG", join(scratch, "skips.jsonl"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(scratch, { recursive: true, force: true });
  });

  test("skips tests if it is absent, and leaves the reason for the test command", () => {
    vi.stubEnv("CALLGATE_REQUIRE", "");
    const data = sharedData(ABSENT);
    expect(data.available).toBe(false);
    const said: unknown = JSON.parse(readFileSync(join(scratch, "skips.jsonl"), "utf8"));
    expect(said).toEqual({ file: import.meta.filename, reason: data.reason });
  });

  test.each(["shared", "kafka, shared"])(
    "is an error if it is absent and required by %j",
    (required) => {
      vi.stubEnv("CALLGATE_REQUIRE", required);
      expect(() => sharedData(ABSENT)).toThrow("CALLGATE_REQUIRE asks for it");
    },
  );

  test("may be absent when other words are required", () => {
    vi.stubEnv("CALLGATE_REQUIRE", "kafka,shared-nothing");
    expect(sharedData(ABSENT).available).toBe(false);
  });
});
