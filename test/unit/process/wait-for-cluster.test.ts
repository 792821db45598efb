import { expect, test } from "vitest";
import { BROKERS, REGISTRY, untilThere } from "../../../services/process/wait-for-cluster.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import { createTestLogger } from "../../support/runtime-kit.ts";

function waiting() {
  const told: string[] = [];
  const stop = new AbortController();
  return {
    ...{ told, stop },
    context: {
      ...{ logger: createTestLogger([]), signal: stop.signal },
      waitsFor: (what: string): void => void told.push(what),
    },
  };
}

test("what is waited for is told before it has failed, and ends where it never answers", async () => {
  const { told, stop, context } = waiting();
  const silent = untilThere(() => new Promise(() => undefined), context);
  expect(told).toEqual([expect.stringContaining("`kafka.brokers`")]);
  stop.abort();
  await expect(silent).rejects.toThrow("asked to end");
});

test("a failure is told instead, and what comes next once that is there", async () => {
  const { told, context } = waiting();
  let tries = 0;
  const first = async (): Promise<number> => {
    tries += 1;
    if (tries === 1) throw new RetryableError("schema_unavailable", "refused");
    return tries;
  };
  expect(await untilThere(first, context, REGISTRY)).toBe(2);
  expect(await untilThere(async () => "there", context, BROKERS)).toBe("there");
  expect(told).toEqual([REGISTRY, "refused", BROKERS]);
});

test("what no waiting mends is thrown", async () => {
  const { context } = waiting();
  await expect(untilThere(() => Promise.reject(new Error("a defect")), context)).rejects.toThrow(
    "a defect",
  );
});
