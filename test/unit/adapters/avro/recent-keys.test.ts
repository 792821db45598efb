import { describe, expect, it } from "vitest";
import { RecentKeys } from "../../../../services/adapters/avro/recent-keys.ts";
import type { CallAllowed } from "../../../../services/core/events.ts";
import { ALLOWED } from "../../../support/avro/samples.ts";

const secret = new Uint8Array([1, 2, 3]);

function asked(keys: RecentKeys, event: CallAllowed, from = secret): boolean {
  let made = false;
  const make = (): string => {
    made = true;
    return JSON.stringify([event.decisionId, event.actionKey]);
  };
  const key = keys.of(from, event, make);
  expect(key).toBe(JSON.stringify([event.decisionId, event.actionKey]));
  return made;
}

describe("keys made of late", () => {
  it("are not made again for the same call", () => {
    const keys = new RecentKeys();
    expect([asked(keys, ALLOWED), asked(keys, { ...ALLOWED })]).toEqual([true, false]);
  });

  it.each<[string, Partial<CallAllowed>]>([
    ["tenant", { tenantId: "other" }],
    ["conversation", { conversationId: "other" }],
    ["tool", { tool: "other" }],
    ["action", { actionKey: "other" }],
    ["decision", { decisionId: "other" }],
    ["occurrence", { occurrence: { decisionId: "other", openedAtMs: 1, attempt: 2 } }],
  ])("are made anew for another %s", (_what, other) => {
    const keys = new RecentKeys();
    asked(keys, ALLOWED);
    expect(asked(keys, { ...ALLOWED, ...other })).toBe(true);
  });

  it("are made anew from another secret", () => {
    const keys = new RecentKeys();
    asked(keys, ALLOWED);
    expect(asked(keys, ALLOWED, new Uint8Array([1, 2, 3]))).toBe(true);
  });

  it("give way to later ones whose decision ids begin alike, and to no others", () => {
    const keys = new RecentKeys();
    const beginning = (digits: string, actionKey: string): CallAllowed => ({
      ...ALLOWED,
      decisionId: `${digits}${"0".repeat(29)}`,
      actionKey,
    });
    asked(keys, beginning("a3f", "first"));
    asked(keys, beginning("a3e", "second"));
    expect(asked(keys, beginning("a3f", "first"))).toBe(false);
    asked(keys, beginning("a3f", "third"));
    expect(asked(keys, beginning("a3f", "first"))).toBe(true);
    expect(asked(keys, beginning("a3e", "second"))).toBe(false);
  });
});
