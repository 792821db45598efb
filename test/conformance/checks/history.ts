import type { CheckExamples } from "../../support/gate-story/check-examples.ts";

const TOOLS = { tool_schemas: { write: {} } };

/** The rows of the keys of the history are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    history_full: async (tell) => {
      const story = await tell(TOOLS);
      let outcome = "allowed";
      for (let n = 0; n <= 256 && outcome === "allowed"; n++)
        outcome = await story.outcome("write", { n });
      return outcome;
    },
  },
  keys: [],
};
