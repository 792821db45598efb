// A resource that only the result identifies, through the library: undone by its id, even after a
// restart.
import { expect, test } from "vitest";
import type { Callgate } from "../../../../services/library/callgate.ts";
import { makeDirectory, openGate } from "../../../support/open-gate.ts";

const POLICY = {
  tool_schemas: {
    create_invoice: { effects: [{ resource: "invoice/{result.invoice.id}", kind: "create" }] },
    send_invoice: { effects: [{ resource: "invoice/{id}", kind: "send" }] },
    delete_invoice: { effects: [{ resource: "invoice/{id}", kind: "delete" }] },
  },
} as const;

async function done(gate: Callgate, tool: string, args: object, output: unknown): Promise<void> {
  const decision = await gate.propose({ conversationId: "c", turn: "1", tool, arguments: args });
  expect(decision.outcome).toBe("allowed");
  await gate.report(decision.decisionId ?? "", { status: "succeeded", output });
}

async function reasonOf(gate: Callgate, tool: string, args: object) {
  const decision = await gate.propose({ conversationId: "c", turn: "1", tool, arguments: args });
  return decision.refusal?.reason;
}

test("creates, deletes what the result identified, and creates again", async () => {
  const dataDir = makeDirectory();
  const first = await openGate({ policy: POLICY, dataDir });
  await done(first, "create_invoice", { amount: 5 }, { invoice: { id: 7 } });
  expect(await reasonOf(first, "create_invoice", { amount: 5 })).toBe("duplicate_call");
  expect(await reasonOf(first, "send_invoice", { id: 7 })).toBe("side_effect_conflict");
  await first.close();
  const second = await openGate({ policy: POLICY, dataDir });
  expect(await reasonOf(second, "send_invoice", { id: "7" })).toBe("side_effect_conflict");
  await done(second, "delete_invoice", { id: 7 }, "gone");
  await done(second, "create_invoice", { amount: 5 }, { invoice: { id: 8 } });
  expect(await reasonOf(second, "send_invoice", { id: 8 })).toBe("side_effect_conflict");
});
