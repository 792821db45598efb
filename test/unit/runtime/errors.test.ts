import { describe, expect, it } from "vitest";
import {
  asPipelineError,
  classify,
  type Disposition,
  ERROR_DISPOSITIONS,
  type ErrorCode,
  FatalError,
  FencedError,
  PoisonRecordError,
  RetryableError,
  StateCorruptError,
} from "../../../services/runtime/errors.ts";

/** The disposition of each code, written a second time: changing one is a deliberate decision. */
const EXPECTED: Readonly<Record<ErrorCode, Disposition>> = {
  log_unavailable: "retry",
  log_full: "retry",
  outcome_unknown: "retry",
  checkpoint_unavailable: "retry",
  schema_unavailable: "retry",
  undecodable: "quarantine",
  too_large: "quarantine",
  state_corrupt: "rebuild",
  fenced: "fenced",
  role_taken: "fatal",
  journal_broken: "fatal",
  journal_lost: "fatal",
  offsets_ahead: "fatal",
  journal_out_of_reach: "fatal",
  input_out_of_reach: "fatal",
  retention_too_short: "fatal",
  log_corrupt: "fatal",
  log_unreadable: "fatal",
  log_mismatch: "fatal",
  secret_missing: "fatal",
  registry_refused: "fatal",
  schema_incompatible: "fatal",
  closed: "fatal",
  unexpected: "fatal",
};

describe("the errors of the pipeline", () => {
  it("have one disposition for each code", () => {
    expect(ERROR_DISPOSITIONS).toEqual(EXPECTED);
  });

  it.each([
    [new RetryableError("log_full", "m"), "retry"],
    [new PoisonRecordError("too_large", "m"), "quarantine"],
    [new StateCorruptError("m"), "rebuild"],
    [new FencedError("m"), "fenced"],
    [new FatalError("log_corrupt", "m"), "fatal"],
  ])("%s is handled as its class says", (error, disposition) => {
    expect(classify(error)).toBe(disposition);
    expect(error.disposition).toBe(ERROR_DISPOSITIONS[error.code]);
    expect(error.name).toBe(error.constructor.name);
    expect(asPipelineError(error)).toBe(error);
  });

  it.each([new TypeError("x is not a function"), "text", null, 7, { code: "log_full" }])(
    "an unknown error (%s) is fatal",
    (thrown) => {
      expect(classify(thrown)).toBe("fatal");
      const error = asPipelineError(thrown);
      expect(error).toMatchObject({ code: "unexpected", cause: thrown });
    },
  );

  it("keep their cause and context", () => {
    const cause = new Error("below");
    const error = new FatalError("log_corrupt", "m", { cause, context: { offset: 3 } });
    expect(error).toMatchObject({ cause, context: { offset: 3 }, message: "m" });
  });
});
