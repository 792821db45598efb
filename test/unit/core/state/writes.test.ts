import { describe, expect, test } from "vitest";
import { initialState, type WriteHistory } from "../../../../services/core/state/state.ts";
import {
  anyWriteSince,
  changedSince,
  type Dependent,
  withWrite,
} from "../../../../services/core/state/writes.ts";

const START = initialState("t", "c", 0);

interface Done {
  readonly key: string;
  readonly n: number;
  readonly doneN: number;
  readonly on?: readonly string[];
  readonly succeeded?: boolean;
}

function having(writes: readonly Done[], dropAtMs = 1_000, nowMs = 0) {
  const history = writes.reduce<WriteHistory>(
    (before, { key, n, doneN, on, succeeded = true }) =>
      withWrite(
        before,
        { actionKey: key, n, doneN, succeeded, windowUntilMs: 100 },
        on ?? null,
        dropAtMs,
        nowMs,
      ),
    START.writes,
  );
  return { ...START, writes: history };
}

const write = (actionKey: string, resources: readonly string[] | null = null): Dependent => ({
  actionKey,
  isRead: false,
  resources,
});
const read = (resources: readonly string[] | null = null): Dependent => ({
  actionKey: "read",
  isRead: true,
  resources,
});

describe("a repeated write is intended", () => {
  test("where another write was allowed since and succeeded", () => {
    const state = having([{ key: "b", n: 5, doneN: 6 }]);
    expect(changedSince(state, write("a"), 4, 0)).toBe(true);
    expect(changedSince(state, write("a"), 5, 0)).toBe(false);
    expect(changedSince(state, write("b"), 4, 0)).toBe(false);
  });

  test("but not because of one that may have failed", () => {
    const state = having([{ key: "b", n: 5, doneN: 6, succeeded: false }]);
    expect(changedSince(state, write("a"), 4, 0)).toBe(false);
  });

  test("in whatever order results come, and however many failed after it", () => {
    const late = having([
      { key: "b", n: 5, doneN: 6 },
      { key: "c", n: 1, doneN: 7 },
      { key: "d", n: 2, doneN: 8 },
      { key: "e", n: 9, doneN: 10, succeeded: false },
      { key: "f", n: 11, doneN: 12, succeeded: false },
    ]);
    expect(changedSince(late, write("a"), 4, 0)).toBe(true);
    expect(changedSince(late, write("b"), 4, 0)).toBe(false);
    expect(changedSince(late, write("b"), 1, 0)).toBe(true);
  });

  test("because of the latest write with one key", () => {
    const state = having([
      { key: "b", n: 8, doneN: 9 },
      { key: "b", n: 3, doneN: 10 },
    ]);
    expect(changedSince(state, write("a"), 7, 0)).toBe(true);
  });
});

describe("a repeated read runs again", () => {
  test("where any result came since, even of a write that may have failed", () => {
    const state = having([{ key: "b", n: 2, doneN: 6, succeeded: false }]);
    expect(changedSince(state, read(), 5, 0)).toBe(true);
    expect(changedSince(state, read(), 6, 0)).toBe(false);
  });
});

describe("only the same resource counts", () => {
  const state = having([{ key: "b", n: 2, doneN: 3, on: ["order/1", "order/2"] }]);

  test.each([
    [["order/1"], true],
    [["order/3", "order/2"], true],
    [["order/3"], false],
    [["order"], false],
    [null, true],
  ])("for a call that touches %j: %s", (resources, changed) => {
    expect(changedSince(state, write("a", resources), 1, 0)).toBe(changed);
    expect(changedSince(state, read(resources), 1, 0)).toBe(changed);
  });

  test("except for undeclared writes, which change everything", () => {
    const undeclared = having([{ key: "b", n: 2, doneN: 3 }]);
    expect(changedSince(undeclared, read(["order/3"]), 1, 0)).toBe(true);
  });

  test("for as long as the resource is remembered", () => {
    expect(changedSince(state, read(["order/1"]), 1, 999)).toBe(true);
    expect(changedSince(state, read(["order/1"]), 1, 1_000)).toBe(false);
    expect(anyWriteSince(state, read(["order/9"]), 1)).toBe(true);
  });
});

test("resources that need not be remembered are freed by the next write that names one", () => {
  const writes = [
    { key: "b", n: 1, doneN: 2, on: ["order/1"] },
    { key: "c", n: 3, doneN: 4, on: ["order/2"] },
  ];
  expect(having(writes, 1_000, 999).writes.byResource.size).toBe(2);
  expect(having(writes, 1_000, 1_000).writes.byResource.size).toBe(1);
});

test("nothing has changed before anything was written", () => {
  expect(changedSince(START, read(), 0, 0)).toBe(false);
  expect(anyWriteSince(START, write("a"), 0)).toBe(false);
});
