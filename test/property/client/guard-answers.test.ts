// Outputs from memory and warnings reach the caller in every answer form.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Decision,
  isRefused,
  type WrappedAnswer,
  warningsOf,
  wasAnswered,
} from "../../../services/library/callgate.ts";
import { openGate } from "../../support/open-gate.ts";

const READS = { tool_schemas: { look: { read_only: true } } };
/** A repeat runs, with a warning. */
const WARNS = { checks: { duplicate_call: "warn", loop_repeat: "off" }, tool_schemas: { act: {} } };

const CONTEXT = { conversationId: "c", turn: 1 };

/** As JSON gives it back. */
const output = fc
  .oneof(fc.jsonValue(), fc.string(), fc.string({ unit: "grapheme" }))
  .map((value): unknown => JSON.parse(JSON.stringify(value)));

let calls = 0;

describe("a read that is answered from memory", () => {
  test("is marked in the wrapped answer and the hooks, with the output unchanged", async () => {
    const heard: Decision[] = [];
    const gate = await openGate({ policy: READS });
    gate.onDecision((decision) => heard.push(decision));
    await fc.assert(
      fc.asyncProperty(output, async (value) => {
        const decisions: Decision[] = [];
        const { look } = gate.guard({ look: (_: { at: number }) => value }, CONTEXT, {
          answers: "wrapped",
          onDecision: (decision) => decisions.push(decision),
        });
        calls += 1;
        const first = wrapped(await look({ at: calls }));
        const again = wrapped(await look({ at: calls }));
        expect(first).toEqual({ output: value, duplicate: false, note: null, warnings: [] });
        expect(again).toMatchObject({ duplicate: true, warnings: [] });
        expect(JSON.stringify(again.output)).toBe(JSON.stringify(value));
        expect(again.note).toMatch(/^This tool call was already made in this turn/);
        expect(decisions.map(({ outcome }) => outcome)).toEqual(["allowed", "refused"]);
        expect(heard.slice(-2)).toEqual(decisions);
      }),
      { numRuns: 60 },
    );
  });

  test("is marked without a wrapper, by a note if it is text", async () => {
    const gate = await openGate({ policy: READS });
    const value = fc.oneof(fc.object({ maxDepth: 1 }).map(asJson), fc.array(fc.nat()), fc.string());
    await fc.assert(
      fc.asyncProperty(value, async (one) => {
        const { look } = gate.guard({ look: (_: { at: number }) => one }, CONTEXT);
        calls += 1;
        const first = await look({ at: calls });
        expect([first, wasAnswered(first)]).toEqual([one, false]);
        const again = await look({ at: calls });
        expect(wasAnswered(again)).toBe(true);
        if (typeof one !== "string") expect(again).toEqual(one);
        else
          expect(String(again).startsWith(`${one}\n\n[Gate: This tool call was already`)).toBe(
            true,
          );
        // The object of the first call is still not one from memory.
        expect(wasAnswered(first)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  test("has no note if the policy switches notes off", async () => {
    const quiet = { ...READS, tool_deduplication: { append_system_note: false } };
    const gate = await openGate({ policy: quiet });
    const { look } = gate.guard({ look: () => "text" }, CONTEXT);
    expect([await look(), await look()]).toEqual(["text", "text"]);
  });
});

describe("a warning", () => {
  test("reaches the caller in every answer form", async () => {
    const gate = await openGate({ policy: WARNS });
    await fc.assert(
      fc.asyncProperty(output, async (value) => {
        calls += 1;
        const args = { at: calls };
        const run = (_: { at: number }) => value;
        const plain = gate.guard({ act: run }, CONTEXT);
        const first = await plain.act(args);
        expect([first, warningsOf(first)]).toEqual([value, []]);
        const again = await plain.act(args);
        const { act } = gate.guard({ act: run }, CONTEXT, { answers: "wrapped" });
        const { output: same, duplicate, warnings } = wrapped(await act(args));
        expect([same, duplicate]).toEqual([value, false]);
        expect(warnings.map(({ reason }) => reason)).toEqual(["duplicate_call"]);
        const message = warnings[0]?.message ?? "";
        if (typeof value === "string") expect(again).toContain(message);
        else if (typeof value === "object" && value !== null) {
          expect(warningsOf(again)).toEqual(warnings);
        } else expect(again).toBe(value);
      }),
      { numRuns: 40 },
    );
  });

  test("stays with what a function throws, and with a refusal", async () => {
    const gate = await openGate({
      policy: {
        checks: { unknown_tool: "warn" },
        kill: { agents: ["bob"] },
        tool_schemas: { act: {} },
      },
    });
    const error = new Error("declined");
    const tools = gate.guard(
      {
        act: () => {
          throw error;
        },
      },
      CONTEXT,
    );
    await expect(tools.act()).rejects.toBe(error);
    expect(warningsOf(error)).toEqual([]);
    const refused = await gate.guard({ act: () => 1 }, { ...CONTEXT, agentId: "bob" }).act();
    expect(isRefused(refused) && warningsOf(refused)).toEqual([]);
  });
});

test("a listener that throws changes nothing", async () => {
  const warned = new Promise((resolve) => process.once("warning", resolve));
  const gate = await openGate({ policy: READS });
  gate.onDecision(() => {
    throw new Error("the listener failed");
  });
  expect(await gate.guard({ look: () => "fine" }, CONTEXT).look()).toBe("fine");
  expect(await warned).toMatchObject({ message: "the listener failed" });
});

test("an unknown option of guard is an error", async () => {
  const gate = await openGate({ policy: READS });
  const guard = (options: object) => () => gate.guard({ look: () => 1 }, CONTEXT, options);
  expect(guard({ answers: "boxed" })).toThrow("`answers` must be noted, bare or wrapped");
  expect(guard({ onDecision: 1 })).toThrow("`onDecision` must be a function");
  expect(guard({ answer: "bare" })).toThrow("answer");
});

function asJson(value: object): object {
  return JSON.parse(JSON.stringify(value));
}

function wrapped<T>(answer: T): WrappedAnswer<unknown> {
  expect(isRefused(answer)).toBe(false);
  return answer as WrappedAnswer<unknown>;
}
