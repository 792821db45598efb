import { expect, test } from "vitest";
import { parseLine } from "../../../../services/cli/dev/parse-line.ts";

test("reads a line with a tool as a proposal, even without a type", () => {
  const call = { conversationId: "c", tool: "t", arguments: { a: 1 }, turn: 1, step: "s" };
  expect(parseLine(JSON.stringify(call))).toEqual({ type: "proposal", call });
  const typed = { type: "proposal", ...call, agentId: null };
  expect(parseLine(JSON.stringify(typed))).toEqual({ type: "proposal", call });
});

test("reads a line with a status as a result, by decision id or by call names", () => {
  const byId = { decisionId: "d", status: "succeeded", output: "x" };
  expect(parseLine(JSON.stringify(byId))).toMatchObject({
    type: "result",
    of: { decisionId: "d" },
    report: { status: "succeeded", output: "x" },
  });
  const byName = { conversationId: "c", turn: 1, callId: "a", status: "failed" };
  expect(parseLine(JSON.stringify(byName))).toMatchObject({ type: "result", of: byName });
});

test.each([
  '{"a":1,"a":2}',
  '{"id":9007199254740993}',
  `{"x":${"[".repeat(5000)}${"]".repeat(5000)}}`,
])("keeps the original text of arguments that parsing would change: %s", (args) => {
  const line = `{"conversationId":"c","tool":"t","arguments":${args}}`;
  expect(parseLine(line)).toMatchObject({ type: "proposal", call: { arguments: line } });
});

test("does not run argument text for the second of two duplicate tools", () => {
  const line = '{"conversationId":"c","tool":"look","tool":"erase","arguments":"{}"}';
  expect(parseLine(line)).toMatchObject({ type: "proposal", call: { arguments: line } });
});

test.each([
  ["{bad", "not JSON"],
  ["[]", "a line must be an object"],
  ['{"type":"wish"}', '`type` must be "proposal" or "result"'],
  ['{"conversationId":"c","tool":"t"}', "`arguments` is missing"],
  ['{"conversationId":"c","arguments":{}}', "`tool` is missing"],
  ['{"tool":"t","arguments":{}}', "`conversationId` is missing"],
  ['{"conversationId":"c","tool":1,"arguments":{}}', "`tool` must be text"],
  ['{"conversationId":"c","tool":"t","arguments":{},"turn":1.5}', "`turn` must be text or a whole"],
  ['{"conversationId":"c","tool":"t","arguments":{},"extra":1}', "unknown field `extra`"],
  ['{"conversationId":"c","tool":"t","arguments":{},"__proto__":1}', "unknown field `__proto__`"],
  ['{"decisionId":"d","status":"done"}', "`status` must be one of"],
  ['{"status":"succeeded"}', "a result must name its call"],
  ['{"decisionId":"d","status":"succeeded","error":"no"}', "`error` must be an object"],
])("explains what is wrong with %s", (line, message) => {
  expect(parseLine(line)).toMatchObject({
    type: "problem",
    message: expect.stringContaining(message),
  });
});
