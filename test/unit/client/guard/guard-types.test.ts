// The types of guarded functions, which `tsc -p test` checks, and which functions `guard` finds.
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  type Callgate,
  CallgateError,
  type CallOptions,
  type Guarded,
  type HandlerCall,
  isRefused,
  type Refused,
  type WrappedAnswer,
} from "../../../../services/library/callgate.ts";
import { openGate } from "../../../support/open-gate.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };

interface ShopTools {
  get_order(args: { id: string }): Promise<{ paid: boolean }>;
  readonly find: (args?: { text: string }) => string;
  refund?: (args: { id: string }, call: HandlerCall) => number;
}

abstract class Base {
  protected readonly prefix = "order ";

  list_orders(): readonly string[] {
    return [`${this.prefix}1`];
  }

  get_order({ id }: { id: string }): string {
    return id;
  }
}

class Shop extends Base {
  readonly name = "shop";
  readonly #paid = new Set<string>();
  readonly save_note = ({ text }: { text: string }): string => `${this.name}: ${text}`;

  get orders(): number {
    throw new Error("nobody reads a getter");
  }

  charge_order({ id }: { id: string }, { idempotencyKey }: HandlerCall): boolean {
    this.#paid.add(id);
    return idempotencyKey !== "" && this.isPaid({ id });
  }

  override get_order({ id }: { id: string }): string {
    return `${this.prefix}${id}`;
  }

  async *read_lines({ from }: { from: number }): AsyncGenerator<string, number> {
    yield `line ${from}`;
    return 1;
  }

  private isPaid({ id }: { id: string }): boolean {
    return this.#paid.has(id);
  }
}

describe("the type of a guarded tool", () => {
  test("is that of its function, which may also return a refusal", () => {
    const tools = { pay: (args: { id: string }, call: HandlerCall) => `${args.id}${call.callId}` };
    expectTypeOf<Guarded<typeof tools>>().toEqualTypeOf<{
      readonly pay: (
        args: { id: string } | string,
        options?: CallOptions,
      ) => Promise<string | Refused>;
    }>();
  });

  test("comes from an interface, with its optional members and parameters", () => {
    type Tools = Guarded<ShopTools>;
    expectTypeOf<Parameters<Tools["get_order"]>[0]>().toEqualTypeOf<{ id: string } | string>();
    expectTypeOf<Tools["get_order"]>().returns.resolves.toEqualTypeOf<
      { paid: boolean } | Refused
    >();
    expectTypeOf<Parameters<Tools["find"]>>().toEqualTypeOf<
      [args?: { text: string } | string | undefined, options?: CallOptions | undefined]
    >();
    expectTypeOf<NonNullable<Tools["refund"]>>().returns.resolves.toEqualTypeOf<number | Refused>();
  });

  test("comes from the methods of a class, without its other members", () => {
    type Tools = Guarded<Shop, "wrapped">;
    expectTypeOf<keyof Tools>().toEqualTypeOf<
      "save_note" | "charge_order" | "get_order" | "read_lines" | "list_orders"
    >();
    expectTypeOf<Tools["charge_order"]>().returns.resolves.toEqualTypeOf<
      WrappedAnswer<boolean> | Refused
    >();
    expectTypeOf<Tools["read_lines"]>().returns.resolves.toEqualTypeOf<
      AsyncGenerator<string, number> | Refused
    >();
  });

  test("infers the second parameter of a function that is written in place", () => {
    const guarded = (gate: Callgate) =>
      gate.guard({ pay: ({ id }: { id: string }, call) => id + call.idempotencyKey }, CONTEXT);
    expectTypeOf(guarded).returns.toHaveProperty("pay");
  });

  test("rejects what has no function", () => {
    // @ts-expect-error a number is no tool
    const wrong = (gate: Callgate) => gate.guard({ limit: 1 }, CONTEXT);
    // @ts-expect-error a handler gets arguments and call
    const other = (gate: Callgate) => gate.guard({ pay: (_: object, n: number) => n }, CONTEXT);
    expectTypeOf(wrong).toBeFunction();
    expectTypeOf(other).toBeFunction();
  });
});

function outputOf<T>(answer: T | Refused): T {
  if (isRefused(answer)) throw new Error(`refused: ${answer.message}`);
  return answer;
}

describe("an instance of a class", () => {
  test("has its methods guarded, those of its class and of the classes above it", async () => {
    const gate = await openGate();
    const tools = gate.guard(new Shop(), CONTEXT);
    expect(outputOf(await tools.charge_order({ id: "7" }))).toBe(true);
    expect(outputOf(await tools.get_order({ id: "7" }))).toBe("order 7");
    expect(outputOf(await tools.list_orders())).toEqual(["order 1"]);
    expect(outputOf(await tools.save_note({ text: "a" }))).toBe("shop: a");
    expect(isRefused(await tools.save_note({ text: "a" }))).toBe(true);
  });

  test("has its generators guarded", async () => {
    const gate = await openGate();
    const lines: unknown[] = [];
    const tools = gate.guard(new Shop(), CONTEXT);
    for await (const line of tools.read_lines({ from: 2 })) lines.push(line);
    expect(lines).toEqual(["line 2"]);
  });
});

describe("what an interface describes", () => {
  test("is guarded, without the members that are absent", async () => {
    const gate = await openGate();
    const shop: ShopTools = { get_order: async () => ({ paid: true }), find: () => "nothing" };
    const tools = gate.guard(shop, CONTEXT);
    expect(outputOf(await tools.get_order({ id: "7" }))).toEqual({ paid: true });
    expect(outputOf(await tools.find())).toBe("nothing");
    expect(tools.refund).toBeUndefined();
  });
});

test("one function is guarded under a name", async () => {
  const gate = await openGate();
  const first = gate.guard("first", <Row>({ rows }: { rows: Row[] }) => rows[0], CONTEXT);
  const three = outputOf(await first({ rows: [3] }));
  // A generic function keeps its type parameter.
  expectTypeOf(three).toEqualTypeOf<number | undefined>();
  expect(three).toBe(3);
  expect(isRefused(await first('{"rows":[3]}'))).toBe(true);
});

test("the answer form applies to one function, too", async () => {
  const gate = await openGate();
  const wrapped = { answers: "wrapped" } as const;
  const one = gate.guard(
    "one",
    (_: object) => 1,
    () => CONTEXT,
    wrapped,
  );
  expect(outputOf(await one({}))).toMatchObject({ output: 1, duplicate: false });
});

test.each([
  [Shop, "this is a class: pass an instance of it"],
  [() => 1, "this is a function: pass its name first"],
  [new (class Empty {})(), "the instance has no methods"],
  [[() => 1], "pass an object whose members are functions"],
  [null, "pass an object whose members are functions"],
  [{ limit: 1 }, "the tool `limit` cannot be guarded: it is not a function"],
])("%o cannot be guarded, and the error says why", async (tools, message) => {
  const gate = await openGate();
  const guard = () => gate.guard(tools as never, CONTEXT);
  expect(guard).toThrow(CallgateError);
  expect(guard).toThrow(message);
});
