import { describe, expect, test } from "vitest";
import type { ResultInput, VerdictInput } from "../../../services/core/inputs.ts";
import { LIMITS } from "../../../services/core/limits.ts";
import type { DecodedInput } from "../../../services/runtime/ports.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { type Envelope, proposalProblem } from "../../../services/wire/proposal.ts";
import { compileRecordTypes } from "../../../services/wire/record-types.ts";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { verdictToRaw } from "../../../services/wire/verdict.ts";
import {
  PLAIN_PROPOSAL,
  SAMPLE_PROPOSAL,
  SAMPLE_RESULT,
  SAMPLE_SECRETS,
  SAMPLE_VERDICT,
} from "../../support/wire/samples.ts";

const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
const long = "x".repeat(LIMITS.idBytes + 1);

function propose(change: Partial<Envelope>): DecodedInput {
  return codec.decodeInput("proposals", codec.encodeProposal({ ...SAMPLE_PROPOSAL, ...change }));
}

describe("a proposal", () => {
  test("comes back as it was sent", () => {
    expect(structuredClone(propose({}))).toStrictEqual({ ok: true, input: SAMPLE_PROPOSAL });
    expect(propose(PLAIN_PROPOSAL)).toStrictEqual({ ok: true, input: PLAIN_PROPOSAL });
  });

  test.each([
    ["tenantId", "a/b"],
    ["tenantId", ""],
    ["conversationId", long],
    ["conversationId", "gespra\u0308ch"],
    ["callId", ""],
    ["callId", "a\nb"],
  ])("is undecodable where its %s is %j, because that names no call to answer", (field, text) => {
    const decoded = propose({ [field]: text });
    expect(decoded).toMatchObject({ ok: false });
    expect(decoded).toHaveProperty("message", expect.stringContaining(field));
  });

  test("may have a slash in its conversation id", () => {
    expect(propose({ conversationId: "a/b" })).toMatchObject({ ok: true });
  });

  test("may have ids in any script", () => {
    const ids = { tenantId: "müller", conversationId: "会話 7", callId: "😀", turn: "ход" };
    expect(propose(ids)).toMatchObject({ ok: true, input: { ...ids, rejected: null } });
  });

  test.each([
    ["agentId", "u\u0308"],
    ["turn", long],
    ["step", ""],
    ["confirmation", "a\u0000"],
  ])("is rejected where its %s is %j, and loses that field", (field, text) => {
    expect(propose({ [field]: text })).toMatchObject({
      ok: true,
      input: {
        callId: SAMPLE_PROPOSAL.callId,
        [field]: null,
        rejected: { reason: "malformed", message: expect.stringContaining(field) },
      },
    });
  });

  test("is rejected under a printable name where its tool name is invalid", () => {
    expect(propose({ tool: "löschen\n" })).toMatchObject({
      ok: true,
      input: { tool: "l?schen?", rejected: { reason: "malformed" } },
    });
    const shown = propose({ tool: "t".repeat(LIMITS.toolNameLength + 1) });
    expect(shown).toHaveProperty("input.tool", "t".repeat(64));
  });

  test.each([
    { microUnits: -1, currency: "EUR" },
    { microUnits: 1, currency: "eur" },
  ])("is rejected where its estimated cost is %j", (estimatedCost) => {
    expect(propose({ estimatedCost })).toHaveProperty("input.rejected.reason", "malformed");
  });

  test("keeps the beginning of the model's text, never half a character", () => {
    const text = `${"a".repeat(LIMITS.assistantTextLength - 1)}😀 and more`;
    expect(propose({ assistantText: text })).toHaveProperty(
      "input.assistantText",
      "a".repeat(LIMITS.assistantTextLength - 1),
    );
    const bounded = "b".repeat(LIMITS.assistantTextLength);
    expect(propose({ assistantText: `${bounded}c` })).toHaveProperty(
      "input.assistantText",
      bounded,
    );
  });

  test("passes on arguments that are not UTF-8 as bytes, for the strict parser to refuse", () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0x7d);
    expect(propose({ arguments: bytes })).toHaveProperty("input.arguments", bytes);
  });

  test("passes on arguments that are UTF-8 as text, also where they were sent as bytes", () => {
    const text = '{"name":"Zoë 😀"}';
    expect(propose({ arguments: Buffer.from(text) })).toHaveProperty("input.arguments", text);
    expect(propose({ arguments: text })).toHaveProperty("input.arguments", text);
  });

  test("never has half a surrogate pair of its arguments replaced by another character", () => {
    const text = `{"a":"${"x".repeat(100)}\ud83d"}`;
    const read = propose({ arguments: text });
    expect(read).toHaveProperty("input.arguments", text.replace("\ud83d", "\\ud83d"));
    expect(propose({ assistantText: "a\udc00b 😀" })).toHaveProperty(
      "input.assistantText",
      "a\ufffdb 😀",
    );
  });

  test("can be checked before it is sent", () => {
    expect(proposalProblem(SAMPLE_PROPOSAL)).toBeUndefined();
    expect(proposalProblem({ ...SAMPLE_PROPOSAL, callId: "" })).toMatch(/callId/);
    expect(proposalProblem({ ...SAMPLE_PROPOSAL, step: "" })).toMatch(/step/);
    const untyped = (change: object) => proposalProblem({ ...SAMPLE_PROPOSAL, ...change });
    expect(untyped({ conversationId: undefined })).toMatch(/conversationId/);
    expect(untyped({ tenantId: 7 })).toMatch(/tenantId/);
    // The model chooses the tool name, and the gate tells it what is wrong.
    expect(proposalProblem({ ...SAMPLE_PROPOSAL, tool: "" })).toBeUndefined();
    expect(untyped({ estimatedCost: { microUnits: 2 ** 52, currency: "EUR" } })).toMatch(/micro/);
    expect(untyped({ estimatedCost: { microUnits: 0.5, currency: "EUR" } })).toMatch(/micro/);
  });
});

describe("a result", () => {
  const report = (change: Partial<ResultInput>) =>
    codec.decodeInput("results", codec.encodeResult({ ...SAMPLE_RESULT, ...change }));

  test("comes back as it was sent", () => {
    expect(structuredClone(report({}))).toStrictEqual({ ok: true, input: SAMPLE_RESULT });
  });

  test("has its duration in whole milliseconds", () => {
    expect(report({ durationMs: 12.6 })).toHaveProperty("input.durationMs", 13);
  });

  test("shows half a surrogate pair as the replacement character", () => {
    const decoded = report({
      output: "\ud83d!",
      error: { code: null, message: "\udc00", retryable: null },
    });
    expect(decoded).toHaveProperty("input.output", "\ufffd!");
    expect(decoded).toHaveProperty("input.error.message", "\ufffd");
  });

  test("is refused where its status is not on the list", () => {
    const decoded = report({ status: "finished" as ResultInput["status"] });
    expect(decoded).toEqual({
      ok: false,
      message: "`finished` is not a result status that is known here",
    });
  });

  test.each([
    { outputBytes: -1 },
    { durationMs: -1 },
    { tenantId: "a/b" },
    { cost: { microUnits: -1, currency: "EUR" } },
  ])("with %j is refused", (change) => {
    const [field] = Object.keys(change);
    expect(report(change)).toEqual({ ok: false, message: expect.stringContaining(field ?? "") });
  });
});

describe("a verdict", () => {
  const give = (change: object) =>
    codec.decodeInput(
      "verdicts",
      codec.encodeVerdict({ ...SAMPLE_VERDICT, ...change } as VerdictInput),
    );

  test("comes back as it was sent", () => {
    expect(give({})).toStrictEqual({ ok: true, input: SAMPLE_VERDICT });
  });

  test("keeps its subject, and drops an empty one", () => {
    const about = { callId: null, actionKey: "a1", ruleDigest: null };
    expect(give({ about })).toStrictEqual({ ok: true, input: { ...SAMPLE_VERDICT, about } });
    const nothing = { callId: null, actionKey: null, ruleDigest: null };
    expect(give({ about: nothing })).toStrictEqual({ ok: true, input: SAMPLE_VERDICT });
  });

  test("does not name a tool where its scope is this call", () => {
    const types = compileRecordTypes(readSchemaFiles());
    const rawVerdict = { ...verdictToRaw({ ...SAMPLE_VERDICT, tool: "send_mail" }) };
    const toolOf = (scope: string | null) => {
      const value = types.verdict.encode({ ...rawVerdict, scope });
      const decoded = codec.decodeInput("verdicts", value);
      return decoded.ok && decoded.input.type === "verdict" ? decoded.input.tool : decoded;
    };
    expect([toolOf("this_call"), toolOf("this_tool"), toolOf(null)]).toEqual([
      null,
      "send_mail",
      "send_mail",
    ]);
    expect(toolOf("everything")).toMatchObject({ ok: false });
  });

  test("that approves applies to further calls of the tool only with their number, or with the scope of the tool", () => {
    const types = compileRecordTypes(readSchemaFiles());
    const approve = { ...SAMPLE_VERDICT, kind: "approve" as const, tool: "send_mail" };
    const toolOf = (calls: number | null, scope: string | null) => {
      const value = types.verdict.encode({ ...verdictToRaw({ ...approve, calls }), scope });
      const decoded = codec.decodeInput("verdicts", value);
      return decoded.ok && decoded.input.type === "verdict" ? decoded.input.tool : decoded;
    };
    expect([toolOf(2, null), toolOf(null, null), toolOf(null, "this_tool")]).toEqual([
      "send_mail",
      null,
      "send_mail",
    ]);
    const any = { ...approve, calls: null };
    expect(codec.decodeInput("verdicts", codec.encodeVerdict(any))).toEqual({
      ok: true,
      input: any,
    });
  });

  test.each(["", " ", "\t"])("is refused where its `by` is %j", (by) => {
    expect(give({ by })).toEqual({
      ok: false,
      message: "a verdict needs `by`, the name of the person who gives it",
    });
  });

  test.each(["an\u200bn", "ann\n", "\u3164", "ann\u2800"])(
    "is refused where its `by` is %j, which cannot be displayed",
    (by) => {
      expect(give({ by })).toMatchObject({ ok: false, message: expect.stringContaining("`by`") });
    },
  );

  test.each([{ kind: "permit" }, { outcome: "perhaps" }])("with %j is refused", (change) => {
    expect(give(change)).toMatchObject({ ok: false });
  });

  test("must name its conversation and its speaker", () => {
    for (const field of ["tenantId", "conversationId", "by"]) {
      expect(give({ [field]: null })).toEqual({
        ok: false,
        message: `a verdict must say \`${field}\``,
      });
    }
  });

  test("of kind tick is a tick", () => {
    expect(codec.decodeInput("verdicts", codec.encodeTick())).toStrictEqual({
      ok: true,
      input: { type: "tick" },
    });
  });
});

test.each(["proposals", "results", "verdicts"] as const)(
  "the message for a record of %s without a value says so",
  (topic) => {
    for (const value of [null, new Uint8Array()]) {
      expect(codec.decodeInput(topic, value)).toEqual({
        ok: false,
        message: expect.stringContaining("no value"),
      });
    }
  },
);

const decode = (topic: "proposals" | "results" | "verdicts", text: string | null) =>
  codec.decodeInput(topic, text === null ? null : new TextEncoder().encode(text));

describe("the message for an input that cannot be decoded", () => {
  test.each([
    ["proposals", "the record has no value: send an Avro or JSON record"],
    ["results", "the record has no value: send an Avro or JSON record"],
    ["verdicts", "the record has no value: send an Avro or JSON record"],
  ] as const)("names the accepted forms where a record of %s is empty", (topic, problem) => {
    expect(decode(topic, null)).toEqual({ ok: false, message: problem });
  });

  test.each(["\ufeff{}", " {}"])("says how JSON must begin where it is %j", (text) => {
    const json = expect.stringMatching(/nor JSON \(first byte `\{`\)$/);
    for (const topic of ["proposals", "results", "verdicts"] as const) {
      expect(decode(topic, text)).toEqual({ ok: false, message: json });
      expect(decode(topic, "\u0000\u0000")).not.toEqual({ ok: false, message: json });
      expect(decode(topic, "{")).not.toEqual({ ok: false, message: json });
    }
  });
});
