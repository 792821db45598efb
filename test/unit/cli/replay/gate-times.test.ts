import { expect, test } from "vitest";
import type { RecordedCall } from "../../../../services/cli/replay/recording.ts";
import { gateTimes } from "../../../../services/cli/replay/recording.ts";

function call(fields: Partial<RecordedCall>): RecordedCall {
  return {
    tool: "t",
    argumentsText: "{}",
    output: null,
    outputHash: null,
    isError: false,
    turn: null,
    step: null,
    atMs: null,
    ...fields,
  };
}

test("are the recorded times if every call has one, and never fall", () => {
  const calls = [call({ atMs: 5_000 }), call({ atMs: 9_000 }), call({ atMs: 7_000 })];
  expect(gateTimes(calls)).toEqual([5_000, 9_000, 9_000]);
});

test("advance a second per step if one call has no time", () => {
  const calls = [
    call({ atMs: 5_000, turn: "1", step: "1" }),
    call({ turn: "1", step: "1" }),
    call({ turn: "1", step: "2" }),
    call({ turn: "2", step: "2" }),
  ];
  expect(gateTimes(calls)).toEqual([1_000, 1_000, 2_000, 3_000]);
});

test("advance a second per call without a step", () => {
  expect(gateTimes([call({}), call({}), call({ step: "1" })])).toEqual([1_000, 2_000, 3_000]);
});
