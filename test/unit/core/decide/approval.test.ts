import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, ofType, startStory } from "../../../support/decider-spec.ts";

const ASK: PolicyDocument = { tool_schemas: { erase: { risk_level: "HIGH" }, write: {} } };

describe("an approval under a newer policy that refuses the call before it is judged", () => {
  const STRICTER: readonly (readonly [string, PolicyDocument])[] = [
    ["unknown_tool", { tool_schemas: { write: {} } }],
    [
      "invalid_arguments",
      { tool_schemas: { erase: { risk_level: "HIGH", input_schema: { required: ["why"] } } } },
    ],
    ["too_large", { ...ASK, limits: { arguments_bytes: 1_024 } }],
  ];

  test.each(STRICTER)(
    "ends the hold as a refusal for %s, and cannot be repeated",
    (reason, policy) => {
      const story = startStory(ASK);
      const hold = story.held("erase", { text: "x".repeat(2_000) });
      const refused = ofType(story.under(policy).approved(hold), "refused");
      expect(refused).toMatchObject({ refusal: { reason }, approval: { approvalId: hold.holdId } });
      expect(story.state?.totals.calls).toBe(0);
      expect(story.under(ASK).approved(hold)).toMatchObject({ why: "unknown_approval" });
      expect(story.after(HOUR).ticked()).toEqual([]);
    },
  );
});
