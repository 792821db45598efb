// A late result, a tick, a person, or several of them settle an unknown outcome. In whatever order
// they come, the call never runs twice while its effect is not certain.
import { describe, expect, test } from "vitest";
import type { CallAllowed } from "../../../services/core/events.ts";
import { HOUR, type Story, startStory } from "../../support/decider-spec.ts";

type Step = (story: Story, call: CallAllowed) => void;

const STEPS: Readonly<Record<string, Step>> = {
  started: (story, call) => void story.reported(call, { status: "started" }),
  unknown: (story, call) => void story.reported(call, { status: "unknown" }),
  tick: (story) => void story.ticked(),
  late: (story, call) => void story.reported(call, { status: "succeeded", output: "done" }),
  person: (story, call) => void story.reconciled(call, "not_executed"),
};

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, at) =>
    permutations(items.filter((_, other) => other !== at)).map((rest) => [item, ...rest]),
  );
}

const ORDERS = permutations(Object.keys(STEPS)).map((order) => order.join(" "));

/** The expected state after these steps: the first reported outcome is final. */
function expected(steps: readonly string[]): "runs" | "duplicate_call" | "refused" {
  let unknown = false;
  for (const step of steps) {
    if (step === "late") return "duplicate_call";
    if (step === "person" && unknown) return "runs";
    if (step === "unknown" || step === "tick") unknown = true;
  }
  return "refused";
}

describe("a write whose outcome is settled in the order", () => {
  test.each(ORDERS)("%s", (order) => {
    const steps = order.split(" ");
    for (let reportedCount = 0; reportedCount <= steps.length; reportedCount++) {
      const story = startStory({
        deduplication: { window_ms: 2 * HOUR },
        tool_schemas: { write: {} },
      });
      const call = story.allowed("write");
      story.after(HOUR);
      for (const step of steps.slice(0, reportedCount)) STEPS[step]?.(story, call);
      const event = story.proposed("write");
      const wanted = expected(steps.slice(0, reportedCount));
      if (wanted === "runs") {
        expect(event).toMatchObject({ type: "allowed", execution: { attempt: 2 } });
      } else if (wanted === "duplicate_call") {
        expect(event).toMatchObject({ refusal: { reason: "duplicate_call" } });
      } else {
        expect(event.type).toBe("refused");
      }
    }
  });
});

test.each(permutations(["approve", "tick", "deny"]).map((order) => order.join(" ")))(
  "a hold is decided once, in the order %s",
  (order) => {
    const story = startStory({
      authorization: { tiers: [{ name: "ask", pattern: "*", action: "hitl" }] },
    });
    const hold = story.held("write");
    story.after(HOUR);
    const decided = order.split(" ").flatMap((step) => {
      if (step === "tick") return story.ticked();
      return [step === "approve" ? story.approved(hold) : story.denied(hold)];
    });
    expect(decided.filter(({ type }) => type !== "ignored")).toHaveLength(1);
  },
);
