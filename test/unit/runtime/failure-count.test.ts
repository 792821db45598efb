import { describe, expect, it } from "vitest";
import { FailureCount } from "../../../services/runtime/failure-count.ts";
import type { FetchedInput } from "../../../services/runtime/process-batch.ts";

function input(offset: number): FetchedInput {
  const record = { offset, appendTimeMs: 0, key: null, value: null, headers: [] };
  return { topic: "proposals", record };
}

describe("commits that fail at one position", () => {
  it("are retried once unchanged, then with one input at a time", () => {
    const failures = new FailureCount();
    failures.noteFailure(input(5), 3, false);
    expect(failures.isSingle).toBe(false);
    failures.noteFailure(input(5), 3, false);
    expect(failures.isSingle).toBe(true);
    failures.noteSuccess(1);
    failures.noteSuccess(1);
    expect(failures.isSingle).toBe(true);
    failures.noteSuccess(1);
    expect(failures.isSingle).toBe(false);
  });

  it("are counted from one again at another position", () => {
    const failures = new FailureCount();
    failures.noteFailure(input(5), 3, false);
    failures.noteFailure(input(6), 3, false);
    expect(failures.isSingle).toBe(false);
  });

  it("quarantine only the input that is too large by itself", () => {
    const failures = new FailureCount();
    failures.noteFailure(input(5), 3, true);
    expect(failures.isSingle).toBe(true);
    expect(failures.quarantine(input(5))).toBeNull();
    failures.noteFailure(input(6), 1, true);
    expect(failures.quarantine(input(5))).toBeNull();
    expect(failures.quarantine(input(6))).toBe("too_large");
    failures.noteSuccess(1);
    expect(failures.quarantine(input(6))).toBeNull();
  });

  it("are not counted for an idle record", () => {
    const failures = new FailureCount();
    failures.noteFailure(undefined, 0, false);
    failures.noteFailure(undefined, 0, false);
    expect(failures.isSingle).toBe(false);
  });
});
