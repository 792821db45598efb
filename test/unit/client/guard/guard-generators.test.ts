import { describe, expect, test } from "vitest";
import { isRefused, openCallgate } from "../../../../services/library/callgate.ts";

const POLICY = {
  tool_schemas: { charge_card: { time_limit_ms: 60_000 }, slow: { time_limit_ms: 200 } },
};

async function opened() {
  return openCallgate({ policy: POLICY, dataDir: false });
}

const CONTEXT = { conversationId: "c", turn: "t1" };

async function* steps(_args: object) {
  yield "one";
  yield "two";
}

describe("a handler that is a generator", () => {
  test("has run once it is read to its end, and its repeat is then a duplicate", async () => {
    const gate = await opened();
    const { charge_card } = gate.guard({ charge_card: steps }, CONTEXT);
    const yielded: unknown[] = [];
    for await (const value of charge_card({ id: 1 })) yielded.push(value);
    expect(yielded).toEqual(["one", "two"]);
    const again = await charge_card({ id: 1 });
    expect(again).toMatchObject({
      refusal: { reason: "duplicate_call", previousCall: { status: "succeeded" } },
    });
    await gate.close();
  });

  test("is running while nobody reads it, and unknown once it is closed", async () => {
    const gate = await opened();
    let begun = false;
    const tools = gate.guard(
      {
        charge_card: function* (_args: object) {
          begun = true;
          yield 1;
        },
      },
      CONTEXT,
    );
    const stream = await tools.charge_card({ id: 1 });
    if (isRefused(stream)) throw new Error("it was refused");
    expect(begun).toBe(false);
    expect(await tools.charge_card({ id: 1 })).toMatchObject({
      refusal: { reason: "duplicate_in_flight" },
    });
    await stream.return(undefined as never);
    expect(await tools.charge_card({ id: 1 })).toMatchObject({
      refusal: { reason: "outcome_unknown" },
    });
    await gate.close();
  });

  test("is unknown if its time limit passes unread", async () => {
    const gate = await opened();
    const ids: string[] = [];
    const tools = gate.guard(
      {
        slow: async function* (_args: object, { decisionId }: { decisionId: string }) {
          ids.push(decisionId);
          yield 1;
        },
      },
      CONTEXT,
    );
    const stream = await tools.slow({ id: 1 });
    if (isRefused(stream)) throw new Error("it was refused");
    expect(await stream.next()).toMatchObject({ value: 1 });
    expect(await gate.awaitResult(ids[0] as string)).toMatchObject({ status: "unknown" });
    await gate.close();
  });

  test("counts as failed with a possible effect if it throws, and the reader gets the error", async () => {
    const gate = await opened();
    const ids: string[] = [];
    const tools = gate.guard(
      {
        charge_card: async function* (_args: object, { decisionId }: { decisionId: string }) {
          ids.push(decisionId);
          yield 1;
          throw new Error("broken");
        },
      },
      CONTEXT,
    );
    await expect(async () => {
      for await (const _ of tools.charge_card({ id: 1 }));
    }).rejects.toThrow("broken");
    expect(await gate.awaitResult(ids[0] as string)).toMatchObject({
      status: "failed",
      effect: "possible",
    });
    await gate.close();
  });

  test("has its return value as the output", async () => {
    const gate = await opened();
    const ids: string[] = [];
    const tools = gate.guard(
      {
        charge_card: async function* (_args: object, { decisionId }: { decisionId: string }) {
          ids.push(decisionId);
          yield "half";
          return { paid: true };
        },
      },
      CONTEXT,
    );
    for await (const _ of tools.charge_card({ id: 1 }));
    expect(await gate.awaitResult(ids[0] as string)).toMatchObject({ output: { paid: true } });
    await gate.close();
  });

  test("yields its refusal", async () => {
    const gate = await opened();
    const { charge_card } = gate.guard({ charge_card: steps }, CONTEXT);
    for await (const _ of charge_card({ id: 1 }));
    const yielded: unknown[] = [];
    for await (const value of charge_card({ id: 1 })) yielded.push(value);
    expect(yielded).toMatchObject([{ refusal: { reason: "duplicate_call" } }]);
    await gate.close();
  });
});
