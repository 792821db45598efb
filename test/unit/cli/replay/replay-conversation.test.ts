// Each promise of a replay, on policies small enough to know the answer.
import { describe, expect, test } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { decisionLine } from "../../../../services/cli/replay/decision-line.ts";
import { parseRecording } from "../../../../services/cli/replay/recording.ts";
import {
  type ReplayOptions,
  replayConversation,
  replayPolicy,
} from "../../../../services/cli/replay/replay-conversation.ts";
import { capabilities } from "../../../../services/gate/capabilities.ts";
import { compileGatePolicy } from "../../../../services/gate/gate-policy.ts";

const AS_RECORDED: ReplayOptions = { feedRefused: false, applyStops: false, heldAllow: false };

const POLICY = {
  tool_schemas: {
    read: { read_only: true, reads: ["thing"] },
    write: {},
    poll: { polling: { max_calls: 50 }, volatile: true },
    touch: { effects: [{ resource: "thing", kind: "update" }] },
  },
};

function policyOf(document: object) {
  const result = compileGatePolicy(loadPolicy(document), capabilities);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return replayPolicy(result.policy);
}

interface Call {
  readonly tool: string;
  readonly args?: unknown;
  readonly [field: string]: unknown;
}

function replay(calls: readonly Call[], options: Partial<ReplayOptions> = {}, document = POLICY) {
  const line = JSON.stringify({ id: "c", calls: calls.map((call) => ({ args: {}, ...call })) });
  const parsed = parseRecording(line);
  if (!parsed.ok) throw new Error(parsed.problem);
  const replayed = replayConversation(parsed.conversation, policyOf(document), {
    ...AS_RECORDED,
    ...options,
  });
  return replayed.map((call) => decisionLine("c", call));
}

const outcomes = (...args: Parameters<typeof replay>) =>
  replay(...args).map(({ outcome, reason }) => (reason === undefined ? outcome : reason));

const write = (fields: object = {}): Call => ({
  tool: "write",
  args: { a: 1 },
  output: "ok",
  ...fields,
});

describe("replayed results", () => {
  test("are the recorded outputs of allowed calls, so that a repeated write is a duplicate", () => {
    expect(outcomes([write({ turn: 1, step: 1 }), write({ turn: 1, step: 2 })])).toEqual([
      "allowed",
      "duplicate_call",
    ]);
  });

  test("come after all calls of their step were proposed", () => {
    const together = [write({ turn: 1, step: 1 }), write({ turn: 1, step: 1 })];
    expect(outcomes(together)).toEqual(["allowed", "duplicate_in_flight"]);
  });

  test("come at once without a step", () => {
    expect(outcomes([write(), write()])).toEqual(["allowed", "duplicate_call"]);
  });

  test("belong to another step if the turn differs", () => {
    const calls = [write({ turn: 1, step: 1 }), write({ turn: 2, step: 1 })];
    expect(outcomes(calls)).toEqual(["allowed", "duplicate_call"]);
  });

  test("are failures with the error flag, or with an error text and no flag, so that a retry may run", () => {
    const failed = (fields: object) => [write(fields), write(fields), write(fields), write(fields)];
    const third = ["allowed", "allowed", "allowed", "failure_streak"];
    expect(outcomes(failed({ output: "no", is_error: true }))).toEqual(third);
    expect(outcomes(failed({ output: "Error: no", is_error: false }))).toEqual(third);
    expect(outcomes(failed({ output: "Error: no", is_error: null }))).toEqual(third);
  });

  test("count as success if they are missing", () => {
    expect(outcomes([write({ output: null }), write({ output: null })])).toEqual([
      "allowed",
      "duplicate_call",
    ]);
  });

  test("equal no other output if they are missing; with one hash they are equal", () => {
    const reads = (fields: object): Call[] =>
      Array.from({ length: 3 }, () => ({ tool: "read", turn: 1, ...fields }));
    const allowed = ["allowed", "allowed", "allowed"];
    expect(outcomes(reads({ output: null }))).toEqual(allowed);
    const hashed = ["allowed", "allowed", "loop_repeat"];
    expect(outcomes(reads({ output: null, output_hash: "h" }))).toEqual(hashed);
  });

  test("are distinguished by their hash, not by the text that a recording cut", () => {
    const huge = "x".repeat(20_000);
    const read = (output_hash: string): Call => ({ tool: "read", output: huge, output_hash });
    const same = [read("h"), read("h"), read("h")];
    const other = [read("h1"), read("h2"), read("h3")];
    expect(outcomes(same)).toEqual(["allowed", "allowed", "loop_repeat"]);
    expect(outcomes(other)).toEqual(["allowed", "allowed", "allowed"]);
  });

  test("of reads answer repeats, and the line says so", () => {
    const read: Call = { tool: "read", output: "x" };
    expect(replay([read, read])[1]).toMatchObject({ reason: "duplicate_call", answered: true });
  });
});

describe("a refused call", () => {
  // The recorded second touch ran; with its result the gate would run the read again.
  const calls: Call[] = [
    { tool: "touch", output: "ok" },
    { tool: "read", output: "x" },
    { tool: "touch", output: "ok" },
    { tool: "read", output: "y" },
  ];

  test("did not run: its recorded result is not reported", () => {
    expect(outcomes(calls)).toEqual(["allowed", "allowed", "duplicate_call", "duplicate_call"]);
  });

  test("did run with `feedRefused`", () => {
    expect(outcomes(calls, { feedRefused: true })).toEqual([
      "allowed",
      "allowed",
      "duplicate_call",
      "allowed",
    ]);
  });

  test("stays refused with `feedRefused` if it could not be parsed", () => {
    const broken: Call = { tool: "write", args: ["no object"], output: "ok" };
    expect(outcomes([broken, write()], { feedRefused: true })).toEqual(["malformed", "allowed"]);
  });
});

describe("escalation", () => {
  const repeats = (count: number): Call[] => [
    ...Array.from({ length: count }, (_, step) => write({ turn: 1, step })),
    { tool: "read", turn: 1, step: count, output: "x" },
  ];

  test("reports where it stops a conversation, and continues the recording", () => {
    const lines = replay(repeats(7));
    expect(lines.map(({ stop }) => stop ?? false)).toEqual([
      ...[false, false, false, false, true, true, true],
      false,
    ]);
    expect(lines.map(({ outcome }) => outcome)).toEqual([
      "allowed",
      ...Array.from({ length: 6 }, () => "refused"),
      "allowed",
    ]);
  });

  test("stops the conversation with `applyStops`", () => {
    const reasons = outcomes(repeats(7), { applyStops: true });
    expect(reasons.slice(5)).toEqual([
      "user_input_required",
      "user_input_required",
      "user_input_required",
    ]);
  });
});

describe("a held call", () => {
  const document = {
    authorization: {
      tiers: [{ name: "big", pattern: "delete", action: "hitl", expires_ms: 10_000 }],
    },
    tool_schemas: { ...POLICY.tool_schemas, delete: {} },
  };
  const held: Call = { tool: "delete", args: { id: 1 }, output: "ok" };

  test("is an outcome of its own, and its repeat is held, too", () => {
    expect(outcomes([held, held], {}, document)).toEqual([
      "approval_required",
      "duplicate_in_flight",
    ]);
    expect(replay([held], {}, document)[0]?.outcome).toBe("held");
  });

  test("proceeds as if approved with `heldAllow`, and its repeat is a duplicate", () => {
    const lines = replay([held, held], { heldAllow: true }, document);
    expect(lines.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["held", "approval_required"],
      ["refused", "duplicate_call"],
    ]);
  });

  test("expires as time passes", () => {
    const later = { ...held, ts: "2026-01-01T00:01:00" };
    const calls = [{ ...held, ts: "2026-01-01T00:00:00" }, later];
    expect(outcomes(calls, {}, document)).toEqual(["approval_required", "approval_required"]);
  });
});

test("uses the recorded time: a write repeated after its window runs again", () => {
  const at = (ts: string) => write({ ts });
  const within = [at("2026-01-01T00:00:00"), at("2026-01-01T00:04:59")];
  const after = [at("2026-01-01T00:00:00"), at("2026-01-01T00:05:01")];
  expect(outcomes(within)).toEqual(["allowed", "duplicate_call"]);
  expect(outcomes(after)).toEqual(["allowed", "allowed"]);
});

test("reports warnings beside the outcome", () => {
  const document = { ...POLICY, checks: { unknown_tool: "warn", duplicate_call: "shadow" } };
  const lines = replay([{ tool: "unheard" }, write(), write()], {}, document);
  expect(lines[0]).toMatchObject({ outcome: "allowed", warn: true, warnings: ["unknown_tool"] });
  expect(lines[1]).not.toHaveProperty("warn");
  expect(lines[2]).toMatchObject({ outcome: "allowed", shadow: ["duplicate_call"] });
});

test("prints the call's index, tool and outcome, and omits what did not happen", () => {
  expect(replay([write()])).toEqual([{ id: "c", index: 0, tool: "write", outcome: "allowed" }]);
});
