import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  idempotency: { unknown_outcome: "retry_if_absent" },
  tool_schemas: {
    refund: {
      canonical_fields: ["order", "amount"],
      effects: [{ resource: "order/{order}/refund/{amount}", kind: "charge" }],
    },
    list_refunds: { read_only: true, volatile: true, reads: ["order/{order}/refund"] },
    get_customer: { read_only: true, volatile: true, reads: ["customer/{id}"] },
    note: {},
    search: { read_only: true, volatile: true },
  },
};
const REFUND = { order: "SO-4711", amount: "74.50", reason: "returned goods" };
const OF_ORDER = { order: "SO-4711" };

/** A refund whose outcome is unknown. */
function lost(policy = POLICY, before?: (story: Story) => void) {
  const story = startStory(policy);
  before?.(story);
  const call = story.allowed("refund", REFUND);
  story.reported(call, { status: "unknown" });
  expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
  return { story, call };
}

describe("a write of unknown outcome", () => {
  test.each([
    ["an empty result", "[]"],
    ["an empty list of the order", '{"order":"SO-4711","refunds":[]}'],
    ["another refund", '[{"amount":"12.00"}]'],
  ])("runs again under its key once a read shows %s", (_what, output) => {
    const { story, call } = lost();
    story.done("list_refunds", OF_ORDER, output);
    const again = story.allowed("refund", REFUND);
    expect(again.execution).toEqual({ ...call.execution, attempt: 2 });
  });

  test("runs again once a read shows what it showed before the write", () => {
    const look = (story: Story) => story.done("list_refunds", OF_ORDER, '["rf_1"]');
    const { story } = lost(POLICY, look);
    look(story);
    story.allowed("refund", REFUND);
  });

  test.each([
    ["a tool without declared resources", "search", { q: "depth" }],
    ["a tool of other resources", "get_customer", { id: "c1" }],
  ])("stays refused where %s shows nothing", (_what, tool, args) => {
    const { story } = lost();
    story.done(tool, args, "[]");
    expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
  });

  test.each([
    ["the write", '[{"amount":"74.50"}]'],
    ["the write in a text", "One refund of 74.50 EUR (pending)"],
    ["nothing that tells", '{"usd_left":2472}'],
    ["a list without the members of the write", '["rf_1"]'],
  ])("stays refused where a read shows %s", (_what, output) => {
    const { story } = lost();
    story.done("list_refunds", OF_ORDER, output);
    expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
  });

  test("stays refused once a read showed it, whatever others show later", () => {
    const { story } = lost();
    story.done("list_refunds", OF_ORDER, '[{"amount":"74.50"}]');
    story.done("list_refunds", OF_ORDER, "[]");
    expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
  });

  test("is freed by one read and caught by a later one", () => {
    const { story } = lost();
    story.done("list_refunds", OF_ORDER, "[]");
    story.done("list_refunds", OF_ORDER, '[{"amount":"74.50","state":"pending"}]');
    expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
  });

  test("stays refused after a read of something else, a failed one, or one that began before", () => {
    const { story } = lost();
    story.done("get_customer", { id: "C-1" }, "[]");
    story.failed("list_refunds", OF_ORDER);
    expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
    const early = startStory(POLICY);
    const call = early.allowed("refund", REFUND);
    const read = early.allowed("list_refunds", OF_ORDER);
    early.reported(call, { status: "unknown" });
    early.reported(read, { status: "succeeded", output: "[]" });
    expect(early.reason("refund", REFUND)).toBe("outcome_unknown");
  });

  test("stays refused where its outcome was unknown again after the read", () => {
    const { story } = lost();
    story.done("list_refunds", OF_ORDER, "[]");
    story.reported(story.allowed("refund", REFUND), { status: "unknown" });
    expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
  });

  test("stays refused where the policy does not say so", () => {
    const { story } = lost({ ...POLICY, idempotency: {} });
    story.done("list_refunds", OF_ORDER, "[]");
    expect(story.reason("refund", REFUND)).toBe("outcome_unknown");
  });

  test("runs again with another free text that is not compared", () => {
    const { story } = lost();
    story.done("list_refunds", OF_ORDER, "[]");
    const other = { order: "SO-4711", amount: "74.50", reason: "x" };
    expect(story.allowed("refund", other).execution.attempt).toBe(2);
  });

  test("stays refused where its arguments are too long to compare", () => {
    const story = startStory(POLICY);
    const long = { text: "x".repeat(1_001) };
    story.reported(story.allowed("note", long), { status: "unknown" });
    story.done("search", { q: "a" }, "[]");
    expect(story.reason("note", long)).toBe("outcome_unknown");
  });
});
