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

test("what is waited for is told before it has failed, and ends where it never answers", async () => {
  const { reported, stop, context } = waiting();
  const pending = untilThere(() => new Promise(() => undefined), context);
  expect(reported).toEqual([expect.stringContaining("`kafka.brokers`")]);
  stop.abort();
  await expect(pending).rejects.toThrow("asked to end");
});

test("a failure is told instead, and what comes next once that is there", async () => {
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

test("what no waiting mends is thrown", async () => {
  const { context } = waiting();
  await expect(untilThere(() => Promise.reject(new Error("a defect")), context)).rejects.toThrow(
    "a defect",
  );
});
