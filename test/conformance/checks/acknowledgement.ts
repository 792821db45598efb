import type { CheckExamples } from "../../support/gate-story/check-examples.ts";

/** The rows of the keys of acknowledgement are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    acknowledgement_required: async (tell) => {
      const acknowledgement = { mode: "explicit" };
      const policy = { tool_schemas: { write: {} }, escalation: { options: 1 }, acknowledgement };
      const story = await tell(policy);
      await story.done("write");
      await story.propose("write");
      return story.outcome("write", { other: true });
    },
  },
  keys: [],
};
