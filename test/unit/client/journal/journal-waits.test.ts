import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallgateError } from "../../../../services/client/api/callgate-error.ts";
import type { WaitOptions } from "../../../../services/client/api/gate-types.ts";
import { JournalWaits } from "../../../../services/client/journal/journal-waits.ts";
import type { CommittedRecord } from "../../../../services/runtime/journal.ts";

/** Each record stands for the id that it decides. */
function decisions(): JournalWaits<string> {
  const find = (record: CommittedRecord) => [[String(record), "decided"]] as const;
  return new JournalWaits<string>(find, (id) => `\`${id}\` was not decided`);
}

const decided = (id: string) => [id as unknown as CommittedRecord];

/** `waits`, or how it ended. */
async function stateOf(wait: Promise<unknown>): Promise<unknown> {
  const ended = wait.catch((error: unknown) =>
    error instanceof CallgateError ? error.code : String(error),
  );
  await vi.advanceTimersByTimeAsync(0);
  return Promise.race([ended, Promise.resolve().then(() => "waits")]);
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a wait", () => {
  test("receives what is journaled after it began, even before it is awaited", async () => {
    const waits = decisions();
    const wait = waits.begin("a", {});
    waits.committed(decided("b"));
    const ended = wait.ended();
    expect(await stateOf(ended)).toBe("waits");
    waits.committed(decided("a"));
    expect(await ended).toBe("decided");
    wait.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("fails when nothing is journaled any more, and so do later waits", async () => {
    const waits = decisions();
    const before = waits.begin("a", {});
    waits.end(new CallgateError("closed", "another gate has the directory"));
    waits.end(new CallgateError("timeout", "a later error"));
    const after = waits.begin("a", {});
    expect(await stateOf(before.ended())).toBe("closed");
    expect(await stateOf(after.ended())).toBe("closed");
    before.end();
    after.end();
    // Nothing keeps the process alive.
    expect(vi.getTimerCount()).toBe(0);
  });

  test("has no limit with `Infinity`", async () => {
    const wait = decisions().begin("a", { timeoutMs: Number.POSITIVE_INFINITY });
    const ended = wait.ended();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await stateOf(ended)).toBe("waits");
    wait.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    [{ timeoutMs: Number.NaN }, "timeoutMs"],
    [{ timeoutMs: -1 }, "timeoutMs"],
    [{ timeoutMs: "5" }, "timeoutMs"],
    [{ timeoutMs: null }, "timeoutMs"],
    [{ signal: 5 }, "signal"],
    [{ timeout: 5 }, "timeout"],
    [null, "object"],
  ])("rejects wrong options: %o", (options, what) => {
    const begin = () => decisions().begin("a", options as unknown as WaitOptions);
    expect(begin).toThrow(CallgateError);
    expect(begin).toThrow(what);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the search of a wait", () => {
  const endless = async (isOver: () => boolean): Promise<string> => {
    while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 5));
    return "too late";
  };

  test("ends with the time limit, which includes it", async () => {
    const wait = decisions().begin("a", { timeoutMs: 100 });
    const first = wait.search(() => new Promise((resolve) => setTimeout(resolve, 60)));
    await vi.advanceTimersByTimeAsync(60);
    await first;
    const searched = wait.search(endless).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(40);
    const error = await searched;
    expect(error).toMatchObject({ code: "timeout" });
    expect(String(error)).toContain("not searched");
    await vi.advanceTimersByTimeAsync(5);
    wait.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gets the time it needs for a request of what already exists", async () => {
    const wait = decisions().begin("a", { timeoutMs: 0 });
    const searched = wait.search(() => new Promise((resolve) => setTimeout(resolve, 60, "it")));
    await vi.advanceTimersByTimeAsync(60);
    expect(await searched).toBe("it");
    expect(await stateOf(wait.ended())).toBe("timeout");
    wait.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends when its signal aborts, with the reason", async () => {
    const controller = new AbortController();
    const wait = decisions().begin("a", { signal: controller.signal });
    const searched = wait.search(endless).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(20);
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await searched).toBe(reason);
    await vi.advanceTimersByTimeAsync(5);
    wait.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});
