import type { CheckExamples } from "../../support/gate-story/check-examples.ts";

const TOOLS = {
  tool_schemas: { make: { effects: [{ resource: "thing/{id}", kind: "create" }] } },
};

/** The rows of the keys of effects are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    side_effect_conflict: async (tell) => {
      const story = await tell(TOOLS);
      await story.done("make", { id: 7, n: 1 });
      return story.outcome("make", { id: 7, n: 2 });
    },
  },
  keys: [],
};
