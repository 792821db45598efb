// Outputs that JSON cannot represent, as programs and models see them afterwards.
import { describe, expect, test } from "vitest";
import { type Callgate, isRefused } from "../../../services/library/callgate.ts";
import { openGate, SHOP_POLICY } from "../../support/open-gate.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };

class Rows extends Array<unknown> {
  count = 1;
}

const CYCLIC: { self?: unknown } = {};
CYCLIC.self = CYCLIC;

/** What is stored of the output of a call, as reported and as a refusal refers to it. */
async function stored(gate: Callgate, tool: string, output: unknown, order = "7") {
  const call = { ...CONTEXT, tool, arguments: { order } };
  const { decisionId = "" } = await gate.propose(call);
  await gate.report(decisionId, { status: "succeeded", output });
  const result = await gate.awaitResult(decisionId);
  expect(await gate.previousResult(decisionId)).toEqual(result);
  return result;
}

/** The name of each output is the order of its call. */
const OUTPUTS: readonly (readonly [what: string, output: unknown, retained: unknown])[] = [
  ["large numbers", { id: 5n, amount: 100 }, { id: "5", amount: 100 }],
  ["dates", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
  ["a map further in", { id: 1, more: new Map([["a", 1]]) }, { id: 1, more: "[Map]" }],
  ["a list with members", Object.assign([1, 2], { count: 2 }), [1, 2]],
  ["a list of a class", Rows.from([1, 2]), [1, 2]],
  ["half a character", "\ud800x", "\ufffdx"],
  ["a cycle", CYCLIC, undefined],
  ["a map", new Map([["a", 1]]), undefined],
  ["a function", () => 1, undefined],
  ["a symbol", Symbol("a"), undefined],
];

/** Tools that return the output that the order selects, and count. */
async function shop() {
  const gate = await openGate();
  let runs = 0;
  const run = ({ order }: { order: string }): unknown => {
    runs += 1;
    return OUTPUTS.find(([what]) => what === order)?.[1];
  };
  return { tools: gate.guard({ charge_card: run, get_order: run }, CONTEXT), runs: () => runs };
}

describe("an output that JSON cannot represent", () => {
  test("of a write is returned once; the same call again is a duplicate", async () => {
    const { tools, runs } = await shop();
    for (const [order, output] of OUTPUTS) {
      const call = () => tools.charge_card({ order }, { callId: `of ${order}` });
      expect(await call(), order).toBe(output);
      const again = await call();
      expect(again, order).toMatchObject({ refused: true, reason: "duplicate_call" });
      expect(isRefused(again)).toBe(true);
    }
    expect(runs()).toBe(OUTPUTS.length);
  });

  test("of a read is never answered from memory", async () => {
    const { tools, runs } = await shop();
    for (const [order, output] of OUTPUTS) {
      for (const callId of [`1 of ${order}`, `2 of ${order}`]) {
        expect(await tools.get_order({ order }, { callId }), order).toBe(output);
      }
    }
    expect(runs()).toBe(2 * OUTPUTS.length);
  });

  test.each(["charge_card", "get_order"])(
    "is not whole for callers that wait for it (%s)",
    async (tool) => {
      const gate = await openGate();
      for (const [order, output, expected] of OUTPUTS) {
        const result = await stored(gate, tool, output, order);
        expect(result, order).toMatchObject({ status: "succeeded", whole: false });
        expect(result.output, order).toEqual(expected);
        expect(result.bytes).toBeGreaterThan(0);
        expect(result.digest).not.toBeNull();
      }
    },
  );
});

describe("an output that JSON can represent", () => {
  test("is whole", async () => {
    const output = { rows: [{ id: 1, note: undefined }, null] };
    const result = await stored(await openGate(), "charge_card", output);
    expect(result).toMatchObject({ output: { rows: [{ id: 1 }, null] }, whole: true });
  });
});

describe("another tool's refusal that a tool returns", () => {
  const policy = { ...SHOP_POLICY, kill: { tools: ["send_mail"] } };

  test.each<[string, "charge_card" | "get_order", string]>([
    ["again under the same id", "charge_card", "a"],
    ["as a read", "get_order", "b"],
  ])("is a refusal %s", async (_what, tool, secondId) => {
    const gate = await openGate({ policy });
    const mail = gate.guard({ send_mail: () => "sent" }, CONTEXT);
    const run = (_: { order: string }): Promise<unknown> => mail.send_mail();
    const tools = gate.guard({ charge_card: run, get_order: run }, CONTEXT);
    for (const callId of ["a", secondId]) {
      expect(isRefused(await tools[tool]({ order: "7" }, { callId }))).toBe(true);
    }
  });
});

test("a model sees the JSON form of an output", async () => {
  const gate = await openGate();
  await stored(gate, "charge_card", { id: 5n });
  const call = { ...CONTEXT, tool: "charge_card", arguments: { order: "7" } };
  const { refusal } = await gate.propose(call);
  expect(refusal?.reason).toBe("duplicate_call");
  expect(refusal?.message).toContain(String.raw`"{\"id\":\"5\"}`);
});

test("resources that an output identifies are recognized, whatever else it contains", async () => {
  const create = { effects: [{ resource: "invoice/{result.id}", kind: "create" }] };
  const send = { effects: [{ resource: "invoice/{id}", kind: "send" }] };
  const gate = await openGate({ policy: { tool_schemas: { create, send } } });
  const { decisionId = "" } = await gate.propose({ ...CONTEXT, tool: "create", arguments: {} });
  await gate.report(decisionId, { status: "succeeded", output: { id: 7n, at: new Date(0) } });
  const reasonOf = async (id: string) =>
    (await gate.propose({ ...CONTEXT, tool: "send", arguments: { id } })).refusal?.reason;
  expect(await reasonOf("7")).toBe("side_effect_conflict");
  expect(await reasonOf("8")).toBeUndefined();
});

test("unawaited arguments are rejected before anything is proposed", async () => {
  const gate = await openGate();
  let runs = 0;
  const tools = gate.guard({ charge_card: (_: { order: unknown }) => ++runs }, CONTEXT);
  await expect(tools.charge_card({ order: Promise.resolve("7") })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(
      "contain a Promise at `$.order`, which JSON cannot carry: await",
    ),
  });
  expect(runs).toBe(0);
});
