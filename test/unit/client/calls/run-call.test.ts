import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type ExecutableCall,
  type ExecutionReport,
  Executor,
  type Handler,
  NotClaimedError,
  NotRecordedError,
  stepName,
} from "../../../../services/client/calls/run-call.ts";
import { argumentsWithKey } from "../../../../services/client/decisions/decision-view.ts";

const NOW_MS = 1_000_000;

const CALL: ExecutableCall = {
  decisionId: "d1",
  callId: "c1",
  tool: "pay",
  conversation: "default/a",
  step: null,
  isRead: false,
  arguments: { order: "7" },
  idempotencyKey: "key",
  notAfterMs: NOW_MS,
  timeLimitMs: 60_000,
};

type Reported = readonly [decisionId: string, report: ExecutionReport];

function setUp(report: (call: ExecutableCall) => Promise<void> = async () => undefined) {
  const reports: Reported[] = [];
  const lateErrors: unknown[] = [];
  const executor = new Executor({
    clock: { nowMs: () => NOW_MS, sleep: async () => undefined },
    report: async (call, callReport) => {
      reports.push([call.decisionId, callReport]);
      await report(call);
    },
    onLateError: (_call, error) => lateErrors.push(error),
  });
  return { executor, reports, lateErrors };
}

/** A handler that waits until the test releases it, and logs when it began. */
function gated(name: string, log: string[]) {
  let go: (value: string) => void = () => undefined;
  const handler: Handler = () => {
    log.push(`${name} begins`);
    return new Promise<string>((resolve) => {
      go = (value) => {
        log.push(`${name} ends`);
        resolve(value);
      };
    });
  };
  return { handler, end: () => go(name) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the order of calls", () => {
  test("makes writes of a conversation wait for each other, and nothing else", async () => {
    const { executor } = setUp();
    const log: string[] = [];
    const [one, two, read, other] = ["one", "two", "read", "other"].map((n) => gated(n, log));
    if (!one || !two || !read || !other) throw new Error("four are made");
    const runs = [
      executor.run({ ...CALL, decisionId: "1" }, one.handler),
      executor.run({ ...CALL, decisionId: "2" }, two.handler),
      executor.run({ ...CALL, decisionId: "3", isRead: true }, read.handler),
      executor.run({ ...CALL, decisionId: "4", conversation: "default/b" }, other.handler),
    ];
    await turn();
    expect(log.toSorted()).toEqual(["one begins", "other begins", "read begins"]);
    read.end();
    other.end();
    one.end();
    await turn();
    expect(log.slice(-1)).toEqual(["two begins"]);
    two.end();
    const types = (await Promise.all(runs)).map(({ type }) => type);
    expect(types).toEqual(["succeeded", "succeeded", "succeeded", "succeeded"]);
  });

  test("runs the writes of one step side by side, after all earlier and before all later ones", async () => {
    const { executor } = setUp();
    const log: string[] = [];
    const [first, one, two, next] = ["first", "one", "two", "next"].map((n) => gated(n, log));
    if (!first || !one || !two || !next) throw new Error("four are made");
    const step = stepName("1", "7");
    const runs = [
      executor.run({ ...CALL, decisionId: "1", step: stepName("1", "6") }, first.handler),
      executor.run({ ...CALL, decisionId: "2", step }, one.handler),
      executor.run({ ...CALL, decisionId: "3", step }, two.handler),
      executor.run({ ...CALL, decisionId: "4", step: stepName("2", "7") }, next.handler),
    ];
    await turn();
    expect(log).toEqual(["first begins"]);
    first.end();
    await turn();
    expect(log.slice(2)).toEqual(["one begins", "two begins"]);
    two.end();
    await turn();
    expect(log.slice(4)).toEqual(["two ends"]);
    one.end();
    await turn();
    expect(log.slice(5)).toEqual(["one ends", "next begins"]);
    next.end();
    await Promise.all(runs);
  });

  test("names a step by its turn, and gives calls without a step no common name", () => {
    expect(stepName("1", "7")).not.toBe(stepName("2", "7"));
    expect(stepName(null, "7")).not.toBe(stepName("null", "7"));
    expect(stepName("1", null)).toBeNull();
  });

  test("continues with the next write after one that failed or could not be reported", async () => {
    let failing = true;
    const { executor } = setUp(async () => {
      if (failing) throw new Error("the log is gone");
    });
    const failed = executor.run(CALL, () => {
      throw new Error("declined");
    });
    const next = executor.run({ ...CALL, decisionId: "d2" }, () => {
      failing = false;
      return "ran";
    });
    await expect(failed).rejects.toBeInstanceOf(NotRecordedError);
    expect(await next).toEqual({ type: "succeeded", value: "ran" });
  });
});

describe("a call", () => {
  test("gets the key and is reported before its run resolves", async () => {
    const { executor, reports } = setUp();
    const run = executor.run(CALL, (args, { idempotencyKey, decisionId, callId }) => {
      expect(reports).toEqual([]);
      return { args, idempotencyKey, decisionId, callId };
    });
    const value = { args: { order: "7" }, idempotencyKey: "key", decisionId: "d1", callId: "c1" };
    expect(await run).toEqual({ type: "succeeded", value });
    expect(reports).toEqual([["d1", { status: "succeeded", value, durationMs: 0 }]]);
  });

  test("is reported as failed once and is not retried", async () => {
    const { executor, reports } = setUp();
    let runs = 0;
    const declined = Object.assign(new Error("declined"), { status: 402 });
    const run = executor.run(CALL, () => {
      runs += 1;
      throw declined;
    });
    expect(await run).toEqual({ type: "failed", error: declined });
    const error = { code: "402", message: "declined", retryable: null };
    expect(reports).toEqual([["d1", { status: "failed", error, effect: "none", durationMs: 0 }]]);
    expect(runs).toBe(1);
  });

  test("does not start after its time", async () => {
    const { executor, reports } = setUp();
    const run = executor.run({ ...CALL, notAfterMs: NOW_MS - 1 }, () => "ran");
    expect(await run).toMatchObject({ type: "not_executed", why: "too_late" });
    expect(reports).toMatchObject([["d1", { status: "not_executed" }]]);
  });

  test("neither starts nor is reported if its claim is not granted", async () => {
    const { executor, reports } = setUp();
    const run = executor.run(CALL, () => "ran", { claim: async () => false });
    expect(await run).toEqual({ type: "not_claimed" });
    expect(reports).toEqual([]);
  });

  test.each([true, false])("is claimed even if it is too late (granted: %s)", async (granted) => {
    const { executor, reports } = setUp();
    const late = { ...CALL, notAfterMs: NOW_MS - 1 };
    const run = executor.run(late, () => "ran", { claim: async () => granted });
    // Somebody else may have started it in time: then nothing is told of it.
    expect(await run).toMatchObject({ type: granted ? "not_executed" : "not_claimed" });
    expect(reports.map(([, { status }]) => status)).toEqual(granted ? ["not_executed"] : []);
  });

  test("is not reported as over if it was given up before its claim and another has started it", async () => {
    const { executor, reports } = setUp();
    const options = { signal: AbortSignal.abort(), claim: async () => false };
    expect(await executor.run(CALL, () => "ran", options)).toEqual({ type: "not_claimed" });
    expect(reports).toEqual([]);
  });

  test("fails even if reading the thrown value throws", async () => {
    const { executor, reports } = setUp();
    const thrown = Object.defineProperty(new Error("declined"), "code", {
      get: () => {
        throw new Error("not to be read");
      },
    });
    const run = executor.run(CALL, () => {
      throw thrown;
    });
    expect(await run).toEqual({ type: "failed", error: thrown });
    expect(reports).toMatchObject([["d1", { status: "failed", error: { message: "declined" } }]]);
  });

  test("does not count as unrun if it ended and its report cannot be made", async () => {
    const { executor } = setUp();
    const thrown = Object.assign(new Error("declined"), { code: "E".repeat(300) });
    const broken = vi.spyOn(String.prototype, "slice").mockImplementation(() => {
      throw new Error("cannot be cut");
    });
    const run = executor.run(CALL, () => Promise.reject(thrown));
    const error = await run.catch((caught: unknown) => caught);
    broken.mockRestore();
    expect(error).toBeInstanceOf(NotRecordedError);
    expect(error).toMatchObject({ execution: { type: "failed", error: thrown } });
  });

  test("does not start if claiming it fails", async () => {
    const { executor, reports } = setUp();
    const refused = new Error("no answer");
    const claim = () => Promise.reject(refused);
    const error = await executor.run(CALL, () => "ran", { claim }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(NotClaimedError);
    expect(error).toMatchObject({ cause: refused });
    expect(reports).toEqual([]);
  });

  test("is not executed if it was given up before its start", async () => {
    const { executor, reports } = setUp();
    const reason = new Error("never mind");
    const run = executor.run(CALL, () => "ran", { signal: AbortSignal.abort(reason) });
    expect(await run).toEqual({ type: "not_executed", why: "aborted", reason });
    expect(reports).toMatchObject([["d1", { status: "not_executed" }]]);
  });

  test("is unknown if it was given up while it ran, and a later success is reported", async () => {
    const { executor, reports } = setUp();
    const log: string[] = [];
    const { handler, end } = gated("slow", log);
    const controller = new AbortController();
    const run = executor.run(CALL, handler, { signal: controller.signal });
    await turn();
    const reason = new Error("never mind");
    controller.abort(reason);
    expect(await run).toEqual({ type: "unknown", why: "aborted", reason });
    end();
    await turn();
    const statuses = reports.map(([, { status }]) => status);
    expect(statuses).toEqual(["unknown", "succeeded"]);
  });

  test("is aborted and unknown if it runs too long, and its later failure is not reported", async () => {
    const { executor, reports, lateErrors } = setUp();
    const run = executor.run(
      { ...CALL, timeLimitMs: 5 },
      (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            setImmediate(() => reject(new Error("stopped half way")));
          });
        }),
    );
    expect(await run).toMatchObject({ type: "unknown", why: "time_limit" });
    await turn();
    await turn();
    expect(reports.map(([, { status }]) => status)).toEqual(["unknown"]);
    expect(lateErrors).toEqual([]);
  });

  test("says how it ended if that could not be reported", async () => {
    const { executor } = setUp(() => Promise.reject(new Error("the log is gone")));
    const error = await executor.run(CALL, () => "paid").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      execution: { type: "succeeded", value: "paid" },
      cause: new Error("the log is gone"),
    });
  });
});

test("closing waits for running calls, then aborts them", async () => {
  const { executor, reports } = setUp();
  const run = executor.run(
    CALL,
    (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  );
  await executor.close(5);
  expect(reports.map(([, { status }]) => status)).toEqual(["unknown"]);
  expect(await run).toMatchObject({ type: "unknown", why: "closed" });
});

test("closing distinguishes aborted, unstarted and given-up calls", async () => {
  const { executor, reports } = setUp();
  const never: Handler = () => new Promise(() => undefined);
  const controller = new AbortController();
  const broken = executor.run(CALL, never);
  const queued = executor.run({ ...CALL, decisionId: "d2" }, never);
  const own = { ...CALL, decisionId: "d3", conversation: "default/b" };
  const abortedRun = executor.run(own, never, { signal: controller.signal });
  await turn();
  controller.abort(new Error("never mind"));
  await executor.close(1);
  expect(await broken).toMatchObject({ type: "unknown", why: "closed" });
  expect(await queued).toMatchObject({ type: "not_executed", why: "closed" });
  expect(await abortedRun).toMatchObject({ type: "unknown", why: "aborted" });
  const codes = reports.map(([id, report]) => [id, "error" in report ? report.error.code : null]);
  expect(codes.toSorted()).toEqual([
    ["d1", "closed"],
    ["d2", "closed"],
    ["d3", "aborted"],
  ]);
});

describe("times above 24.8 days, at which a Node timer fires at once", () => {
  const DAY_MS = 86_400_000;
  afterEach(() => {
    vi.useRealTimers();
  });

  test("let a call run for as long as its tool may", async () => {
    vi.useFakeTimers();
    const { executor } = setUp();
    const call = { ...CALL, timeLimitMs: 100 * DAY_MS };
    let ended: unknown;
    const run = executor.run(call, () => new Promise(() => undefined));
    void run.then((execution) => {
      ended = execution;
    });
    await vi.advanceTimersByTimeAsync(100 * DAY_MS - 1);
    expect(ended).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toMatchObject({ type: "unknown", why: "time_limit" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([2 ** 31, 30 * DAY_MS, Number.POSITIVE_INFINITY])(
    "let closing within %d ms wait for running calls",
    async (timeoutMs) => {
      vi.useFakeTimers();
      const { executor } = setUp();
      const { handler, end } = gated("slow", []);
      const run = executor.run({ ...CALL, timeLimitMs: 100 * DAY_MS }, handler);
      const closed = executor.close(timeoutMs);
      await vi.advanceTimersByTimeAsync(29 * DAY_MS);
      if (timeoutMs > 29 * DAY_MS) {
        end();
        expect(await run).toEqual({ type: "succeeded", value: "slow" });
      } else {
        expect(await run).toMatchObject({ type: "unknown", why: "closed" });
      }
      await closed;
    },
  );
});

test("the key is in the argument that the tool declares, and the model's own value never is", () => {
  const args = { order: "7", key: "mine" };
  expect(argumentsWithKey(args, null, "k")).toBe(args);
  expect(argumentsWithKey(args, "key", "k")).toEqual({ order: "7", key: "k" });
  expect(argumentsWithKey({ order: "7" }, "key", "k")).toEqual({ order: "7", key: "k" });
  expect(argumentsWithKey(args, "key", undefined)).toEqual({ order: "7" });
  const nested = { order: "7", options: { key: "mine", currency: "EUR" } };
  expect(argumentsWithKey(nested, "options.key", "k")).toEqual({
    order: "7",
    options: { key: "k", currency: "EUR" },
  });
  expect(argumentsWithKey(nested, "options.key", undefined)).toEqual({
    order: "7",
    options: { currency: "EUR" },
  });
});

test("many running calls cause no listener warning of Node", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  try {
    const { executor } = setUp();
    const ends: (() => void)[] = [];
    const handler = () => new Promise<void>((resolve) => ends.push(resolve));
    const runs = Array.from({ length: 20 }, (_, at) =>
      executor.run({ ...CALL, isRead: true, decisionId: `d${at}` }, handler),
    );
    await turn();
    expect(ends).toHaveLength(20);
    for (const end of ends) end();
    await Promise.all(runs);
    await turn();
    expect(warned).not.toHaveBeenCalled();
  } finally {
    process.off("warning", warned);
  }
});
