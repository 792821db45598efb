import { describe, expect, it } from "vitest";
import { type CustomNormalizer, openCallgate } from "../../../services/library/callgate.ts";

const policy = {
  tool_schemas: {
    cancel: { read_only: false, normalizers: { order: "x_order(W)" } },
  },
};

/** `W-0042`, `w42` and 42 are one order. */
const order: CustomNormalizer = (value, [prefix = ""]) => {
  const digits = /^[a-z]?-?0*(\d+)$/i.exec(String(value))?.[1];
  return digits === undefined ? undefined : `${prefix}${digits}`;
};

describe("a custom normalizer", () => {
  it("decides whether two calls are the same", async () => {
    const gate = await openCallgate({ policy, dataDir: false, normalizers: { x_order: order } });
    const propose = (value: unknown) =>
      gate.propose({ conversationId: "c", tool: "cancel", arguments: { order: value } });
    const first = await propose("W-0042");
    expect(first.outcome).toBe("allowed");
    await gate.report(first.decisionId ?? "", { status: "succeeded", output: "ok" });
    expect(await propose(42)).toMatchObject({ refusal: { reason: "duplicate_call" } });
    expect(await propose("none")).toMatchObject({ refusal: { reason: "invalid_arguments" } });
    await gate.close();
  });

  it("must be passed in, under a name with its own prefix", async () => {
    await expect(openCallgate({ policy, dataDir: false })).rejects.toMatchObject({
      code: "policy_invalid",
    });
    await expect(
      openCallgate({ policy, dataDir: false, normalizers: { trim: order } }),
    ).rejects.toMatchObject({ code: "invalid_input" });
  });
});
