import { expect, test } from "vitest";
import { FencedClaims, mayBeWritten, unfencedClaims } from "../../../services/executor/claims.ts";
import { FencedError, RetryableError } from "../../../services/runtime/errors.ts";
import type { CommitOutcome, Log, PartitionWriter } from "../../../services/runtime/ports.ts";
import { NO_POSITION } from "../../../services/runtime/topics.ts";

const RECORD = { topic: "results", partition: 0, key: null, value: null } as const;

/** Writes nothing: the first commit ends as the test says, and there is no second one. */
function claimsOf(first: () => CommitOutcome): FencedClaims {
  let commits = 0;
  const writer: PartitionWriter = {
    partition: 0,
    recordedOffsets: async () => NO_POSITION,
    commit: async () => {
      commits += 1;
      if (commits > 1) throw new Error("it is of no use any more");
      return first();
    },
    close: async () => undefined,
  };
  return new FencedClaims(writer);
}

/** The errors of two claims, of which the second comes while the first is written. */
function errorsOf(first: () => CommitOutcome): Promise<readonly unknown[]> {
  const claims = claimsOf(first);
  const writes = [claims.write(RECORD), claims.write(RECORD)];
  return Promise.all(writes.map((write) => write.catch((error: unknown) => error)));
}

const error = new Error("no answer");

test("a claim without an answer may be in the log, and an unsent one after it is not", async () => {
  const errors = await errorsOf(() => ({ type: "unknown", error }));
  expect(errors.map(mayBeWritten)).toEqual([true, false]);
  expect(errors.map(String)).toEqual([
    expect.stringContaining("no answer"),
    expect.stringContaining("no answer"),
  ]);
});

test("a claim that failed, or was fenced, is not in the log", async () => {
  const failed = await errorsOf(() => ({ type: "failed", oversize: false, error }));
  expect(failed.map(mayBeWritten)).toEqual([false, false]);
  const fenced = await errorsOf(() => {
    throw new FencedError("another executor has the partition");
  });
  expect(fenced).toEqual([expect.any(FencedError), expect.any(FencedError)]);
  expect(fenced.map(mayBeWritten)).toEqual([false, false]);
});

test("without a fence, an append that failed may be in the log", async () => {
  const append = () => Promise.reject(new RetryableError("log_unavailable", "no broker answers"));
  const written = unfencedClaims({ append } as unknown as Log).write(RECORD);
  const thrown = await written.catch((caught: unknown) => caught);
  expect(thrown).toMatchObject({ code: "outcome_unknown", disposition: "retry" });
  expect(mayBeWritten(thrown)).toBe(true);
  expect(mayBeWritten(new TypeError("whatever it is"))).toBe(true);
});
