// Calls that wait for a person: the library lists them, and they run when they are made again.
import { afterEach, expect, test } from "vitest";
import { type Callgate, isRefused, openCallgate } from "../../../services/library/callgate.ts";

const POLICY = {
  authorization: { tiers: [{ name: "mail", pattern: "send_*", action: "hitl" }] },
  tool_schemas: { send_mail: {} },
};

let gate: Callgate;

afterEach(() => gate.close());

async function opened(): Promise<Callgate> {
  gate = await openCallgate({ policy: POLICY, dataDir: false, secret: "s".repeat(32) });
  return gate;
}

test("lists waiting calls, the oldest first, and none that were decided", async () => {
  const { propose, pending, approve, deny } = await opened();
  expect(await pending()).toEqual([]);
  for (const conversationId of ["a", "b", "c"]) {
    await propose({ conversationId, tool: "send_mail", arguments: { to: conversationId } });
  }
  const [first, second, third] = await pending();
  expect(first).toMatchObject({ conversationId: "a", tool: "send_mail", arguments: { to: "a" } });
  expect(first?.further).toEqual({ of: "mail", notOf: [] });
  expect(await pending({ conversationId: "b" })).toEqual([second]);
  await approve(first?.approvalId ?? "", { by: "ann" });
  await deny(second?.approvalId ?? "", { by: "ann" });
  expect(await pending()).toEqual([third]);
});

test.each(["callId", "approvalId"] as const)(
  "an approved guarded call runs once when its %s is repeated in another turn",
  async (by) => {
    await opened();
    let runs = 0;
    let turn = 1;
    const send_mail = ({ to }: { readonly to: string }) => {
      runs += 1;
      return `${to} ${runs}`;
    };
    const tools = gate.guard({ send_mail }, () => ({ conversationId: "c", turn, step: turn }));
    const waits = await tools.send_mail({ to: "ann" }, { callId: "m1" });
    if (!isRefused(waits) || waits.outcome !== "held") throw new Error("it was not held");
    const { approvalId } = waits;
    await gate.approve(approvalId, { by: "ann" });
    turn = 2;
    const again = by === "callId" ? { callId: "m1" } : { approvalId };
    expect(await tools.send_mail({ to: "ann" }, again)).toBe("ann 1");
    expect(isRefused(await tools.send_mail({ to: "bob" }, again))).toBe(true);
    turn = 3;
    expect(isRefused(await tools.send_mail({ to: "ann" }, again))).toBe(true);
    expect(runs).toBe(1);
  },
);
