import { expect, test } from "vitest";
import { BROKERS, REGISTRY, untilThere } from "../../../services/process/wait-for-cluster.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import { createTestLogger } from "../../support/runtime-kit.ts";

function waiting() {
  const reported: string[] = [];
  const stop = new AbortController();
  return {
    reported,
    stop,
    context: {
      ...{ logger: createTestLogger([]), signal: stop.signal },
      waitsFor: (what: string): void => void reported.push(what),
    },
  };
}

test("untilThere reports what it waits for before the first failure, and ends on its signal without an answer", async () => {
  const { reported, stop, context } = waiting();
  const pending = untilThere(() => new Promise(() => undefined), context);
  expect(reported).toEqual([expect.stringContaining("`kafka.brokers`")]);
  stop.abort();
  await expect(pending).rejects.toThrow("asked to end");
});

test("untilThere reports a failure, and then what it waits for next", async () => {
  const { reported, context } = waiting();
  let tries = 0;
  const first = async (): Promise<number> => {
    tries += 1;
    if (tries === 1) throw new RetryableError("schema_unavailable", "refused");
    return tries;
  };
  expect(await untilThere(first, context, REGISTRY)).toBe(2);
  expect(await untilThere(async () => "there", context, BROKERS)).toBe("there");
  expect(reported).toEqual([REGISTRY, "refused", BROKERS]);
});

test("untilThere throws an error that waiting cannot fix", async () => {
  const { context } = waiting();
  await expect(untilThere(() => Promise.reject(new Error("a defect")), context)).rejects.toThrow(
    "a defect",
  );
});
