import { describe, expect, test } from "vitest";
import type { ProposalInput } from "../../../services/core/inputs.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { SAMPLE_SECRETS } from "../../support/wire/samples.ts";

const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
const NAMES = '"conversationId":"c","callId":"d","tool":"t"';

const decode = (text: string) => codec.decodeInput("proposals", Buffer.from(text));

/** Why the gate refuses a text, with its message. */
function rejection(text: string): string {
  const decoded = decode(text);
  const input = decoded.ok ? (decoded.input as ProposalInput) : undefined;
  return `${input?.rejected?.reason}: ${input?.rejected?.message}`;
}

describe("a JSON proposal", () => {
  test("needs only what names the call, its tool and its arguments", () => {
    expect(decode(`{${NAMES},"arguments":{}}`)).toStrictEqual({
      ok: true,
      input: {
        type: "proposal",
        tenantId: "default",
        conversationId: "c",
        callId: "d",
        agentId: null,
        turn: null,
        step: null,
        tool: "t",
        arguments: "{}",
        assistantText: null,
        estimatedCost: null,
        confirmation: null,
        rejected: null,
      },
    });
  });

  test("may have every field", () => {
    const text = `{${NAMES},"tenantId":"acme","agentId":"a","turn":"1","step":"s","arguments":"{}",
      "assistantText":"I will.","estimatedCost":{"microUnits":5,"currency":"EUR"},"confirmation":"k",
      "traceparent":"00-a-b-01","tracestate":"x=y","ceId":"1","ceSource":"s","ceType":"t","ceTime":"z"}`;
    expect(decode(text)).toMatchObject({
      ok: true,
      input: {
        tenantId: "acme",
        agentId: "a",
        turn: "1",
        step: "s",
        assistantText: "I will.",
        estimatedCost: { microUnits: 5, currency: "EUR" },
        confirmation: "k",
        rejected: null,
      },
    });
  });

  test("has its arguments as an object or as JSON text", () => {
    const asObject = decode(`{${NAMES},"arguments":{"b": [1.0, {"a": null}], "a": 1e1}}`);
    expect(asObject).toHaveProperty("input.arguments", '{"a":10,"b":[1,{"a":null}]}');
    const asText = decode(`{${NAMES},"arguments":"{\\"b\\": 1.0}"}`);
    expect(asText).toHaveProperty("input.arguments", '{"b": 1.0}');
  });

  test("may have numbers as turns and steps", () => {
    const decoded = decode(`{${NAMES},"arguments":{},"turn":3,"step":0}`);
    expect(decoded).toHaveProperty("input.turn", "3");
    expect(decoded).toHaveProperty("input.step", "0");
    expect(decoded).toHaveProperty("input.rejected", null);
    expect(rejection(`{${NAMES},"arguments":{},"turn":1.5}`)).toMatch(/`turn` must be text or a/);
  });

  test("may have null instead of a missing field", () => {
    const decoded = decode(`{${NAMES},"arguments":{},"turn":null,"estimatedCost":null}`);
    expect(decoded).toHaveProperty("input.rejected", null);
  });
});

describe("a JSON proposal that names its call is answered", () => {
  test("where it has an unknown field", () => {
    expect(rejection(`{${NAMES},"arguments":{},"approved":true}`)).toBe(
      "malformed: unknown field `approved`",
    );
  });

  test("and the message shows a long field without half a character", () => {
    const field = `${"x".repeat(39)}😀`;
    expect(rejection(`{${NAMES},"arguments":{},"${field}":true}`)).toBe(
      `malformed: unknown field \`${"x".repeat(39)}\``,
    );
  });

  test.each([
    ["agentId", "5", "`agentId` must be text"],
    ["assistantText", "{}", "`assistantText` must be text"],
    ["traceparent", "1", "`traceparent` must be text"],
    ["estimatedCost", "5", "`estimatedCost` must be"],
    ["estimatedCost", '{"microUnits":1.5,"currency":"EUR"}', "`estimatedCost` must be"],
    ["estimatedCost", '{"microUnits":1,"currency":"EUR","more":1}', "`estimatedCost` must be"],
  ])("where %s is %s", (field, value, message) => {
    expect(rejection(`{${NAMES},"arguments":{},"${field}":${value}}`)).toContain(message);
  });

  test("where it has no arguments, and with every problem", () => {
    const message = rejection(`{${NAMES},"agentId":1,"x":1}`);
    expect(message).toMatch(/`agentId` must be text.*`arguments` must be given.*unknown field `x`/);
  });

  test("where its JSON is not strict", () => {
    expect(rejection(`{${NAMES},"arguments":{"a":1,"a":2}}`)).toMatch(/^malformed: .*`a`/);
    expect(rejection(`{${NAMES},"arguments":{"id":9007199254740993}}`)).toMatch(/^malformed: /);
    expect(rejection(`{${NAMES},"arguments":{"__proto__":{"a":1}}}`)).toMatch(/__proto__/);
    expect(Object.hasOwn(Object.prototype, "a")).toBe(false);
  });

  test.each([
    ['{"a":NaN}', "NaN"],
    ['{"a":[1,-Infinity,NaN]}', "-Infinity"],
    ['{"NaN":"\\"NaN","b":Infinity}', "Infinity"],
  ])("where its arguments are %s", (args, word) => {
    const text = `{${NAMES},"arguments":${args},"turn":3}`;
    expect(rejection(text)).toBe(
      `malformed: found \`${word}\`, which JSON does not have: send null or a text instead`,
    );
    expect(decode(text)).toMatchObject({ input: { callId: "d", turn: "3", arguments: text } });
  });

  test("where a number that JSON does not have stands beside another mistake", () => {
    expect(rejection(`{${NAMES},"arguments":{"a":1,"a":NaN}}`)).toMatch(/^malformed: /);
  });

  test("where it is too deep", () => {
    const deep = `${"[".repeat(40)}${"]".repeat(40)}`;
    expect(rejection(`{${NAMES},"arguments":{"a":${deep}}}`)).toMatch(/^too_large: /);
  });

  test("and the same content is the same call", () => {
    const text = `{${NAMES},"arguments":{"a":1,"a":2}}`;
    expect(decode(text)).toStrictEqual(decode(text));
    expect(decode(text)).toHaveProperty("input.arguments", text);
  });
});

describe("JSON that names no call is not a proposal", () => {
  test.each([
    ["{", /JSON/],
    ["{}", /`conversationId`, `callId`, `tool` must be given/],
    [`{"conversationId":"c","callId":7,"tool":"t","arguments":{}}`, /`callId` must be text/],
    [`{${NAMES},"tenantId":"a/b","arguments":{}}`, /tenantId/],
    [`{${NAMES},"arguments":{}} {}`, /JSON/],
    ['{"__proto__":{"conversationId":"c","callId":"d","tool":"t"}}', /must be given|__proto__/],
  ])("%s", (text, message) => {
    const decoded = decode(text);
    expect(decoded).toMatchObject({ ok: false });
    expect(decoded).toHaveProperty("message", expect.stringMatching(message));
  });
});
