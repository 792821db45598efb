import { describe, expect, test } from "vitest";
import {
  gateTimes,
  parseRecording,
  type RecordedCall,
} from "../../../../services/cli/replay/recording.ts";

function firstCall(fields: object) {
  const parsed = parseRecording(
    JSON.stringify({ id: "c", calls: [{ tool: "t", args: {}, ...fields }] }),
  );
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.conversation.calls[0];
}

test("needs only the id, and tool and arguments of each call", () => {
  expect(parseRecording('{"id":"c","calls":[{"tool":"t","args":{"a":1}}]}')).toEqual({
    ok: true,
    conversation: {
      id: "c",
      calls: [
        {
          tool: "t",
          argumentsText: '{"a":1}',
          output: null,
          outputHash: null,
          isError: false,
          turn: null,
          step: null,
          atMs: null,
        },
      ],
    },
  });
});

test.each([
  ["a list", [1]],
  ["text", "x"],
  ["null", null],
])("accepts arguments that are %s unchanged, for the gate to check", (_, args) => {
  expect(firstCall({ args })?.argumentsText).toBe(JSON.stringify(args));
});

test.each([
  [
    { turn: 3, step: "s" },
    { turn: "3", step: "s" },
  ],
  [{ is_error: null }, { isError: false }],
  [{ is_error: true }, { isError: true }],
  [{ output: { a: [1] } }, { output: '{"a":[1]}' }],
  [
    { output: "", output_hash: "h" },
    { output: "", outputHash: "h" },
  ],
  [{ ts: "2026-03-08T20:38:24.5" }, { atMs: Date.UTC(2026, 2, 8, 20, 38, 24, 500) }],
  [{ ts: "2026-03-08 20:38:24" }, { atMs: Date.UTC(2026, 2, 8, 20, 38, 24) }],
  [{ ts: "2026-03-08T20:38:24Z" }, { atMs: Date.UTC(2026, 2, 8, 20, 38, 24) }],
  [{ ts: "2026-03-08T20:38:24+02:00" }, { atMs: Date.UTC(2026, 2, 8, 18, 38, 24) }],
])("reads %j as %j", (fields, expected) => {
  expect(firstCall(fields)).toMatchObject(expected);
});

test.each([
  ["[]", "a line must be an object"],
  ['{"calls":[]}', "`id` must be a string"],
  ['{"id":"c"}', "`calls` must be a list"],
  ['{"id":"c","calls":[1]}', "`calls[0]` must be an object"],
  ['{"id":"c","calls":[{"args":{}}]}', "`calls[0].tool` must be a string"],
  ['{"id":"c","calls":[{"tool":"t"}]}', "`calls[0].args` is missing"],
  ['{"id":"c","calls":[{"tool":"t","args":{},"ts":"soon"}]}', "`calls[0].ts` must be an ISO"],
  ['{"id":"c","calls":[{"tool":"t","args":{},"is_error":"no"}]}', "`calls[0].is_error` must be"],
  ['{"id":"c","calls":[{"tool":"t","args":{},"output_hash":1}]}', "`calls[0].output_hash` must be"],
  ['{"id":"c","calls":[{"tool":"t","args":{},"step":{}}]}', "`calls[0].step` must be"],
])("explains what is wrong with %s", (line, problem) => {
  expect(parseRecording(line)).toMatchObject({
    ok: false,
    problem: expect.stringContaining(problem),
    column: null,
  });
});

test.each([
  ['{"id": bad}', 8],
  ['{"id":"c","calls":[', 20],
  ["nul", 1],
])("reports the column of the JSON error in %s", (line, column) => {
  expect(parseRecording(line)).toMatchObject({ ok: false, column });
});

describe("a value that parsing would change", () => {
  const BIG = "9007199254740993";

  test.each([
    ["digits that no double holds", `{"id":${BIG}}`],
    ["a number that is too large", '{"amount":1e400}'],
    ["a key that stands twice", '{"to":"a","to":"b"}'],
    ["in text that looks like an end", `{"id":${BIG},"note":"a \\"]}, \\\\"}`],
  ])("keeps its written form: %s", (_, args) => {
    const line = ` { "calls" : [ {"tool":"u","args":[ ] , "x":{"args":1} }, {"args": ${args} ,"tool":"t"} ], "id":"c"}`;
    const parsed = parseRecording(line);
    expect(parsed).toMatchObject({
      ok: true,
      conversation: { id: "c", calls: [{ argumentsText: "[ ]" }, { argumentsText: args }] },
    });
  });

  test("distinguishes outputs, and leaves text and none alone", () => {
    const call = (output: string) => `{"tool":"t","args":{},"output":${output}}`;
    const outputs = [`{"id":${BIG}}`, '"as \\"text\\""', "null"];
    const parsed = parseRecording(`{"id":"c","calls":[${outputs.map(call).join(",")}]}`);
    if (!parsed.ok) throw new Error(parsed.problem);
    expect(parsed.conversation.calls.map(({ output }) => output)).toEqual([
      `{"id":${BIG}}`,
      'as "text"',
      null,
    ]);
  });

  test("distinguishes turns and steps, and leaves names and small numbers alone", () => {
    const labels = [BIG, "9007199254740992", '"plan"', "7", "null"];
    const calls = labels.map((label) => `{"tool":"t","args":{},"turn":${label},"step":${label}}`);
    const parsed = parseRecording(`{"id":"c","calls":[${calls.join(",")}]}`);
    if (!parsed.ok) throw new Error(parsed.problem);
    const read = [BIG, "9007199254740992", "plan", "7", null];
    expect(parsed.conversation.calls.map(({ turn }) => turn)).toEqual(read);
    expect(parsed.conversation.calls.map(({ step }) => step)).toEqual(read);
  });

  test("is the last one of a duplicate key, as in JSON", () => {
    const twice = `{"id":"c","calls":[{"tool":"t","args":{"a":1},"args":{"a":${BIG}}}]}`;
    expect(parseRecording(twice)).toMatchObject({
      conversation: { calls: [{ argumentsText: `{"a":${BIG}}` }] },
    });
  });
});

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

test("gate times are the recorded times if every call has one, and never fall", () => {
  const calls = [call({ atMs: 5_000 }), call({ atMs: 9_000 }), call({ atMs: 7_000 })];
  expect(gateTimes(calls)).toEqual([5_000, 9_000, 9_000]);
});

test("gate times advance a second per step if one call has no time", () => {
  const calls = [
    call({ atMs: 5_000, turn: "1", step: "1" }),
    call({ turn: "1", step: "1" }),
    call({ turn: "1", step: "2" }),
    call({ turn: "2", step: "2" }),
  ];
  expect(gateTimes(calls)).toEqual([1_000, 1_000, 2_000, 3_000]);
});

test("gate times advance a second per call without a step", () => {
  expect(gateTimes([call({}), call({}), call({ step: "1" })])).toEqual([1_000, 2_000, 3_000]);
});
