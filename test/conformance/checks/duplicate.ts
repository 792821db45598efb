import type { CheckExamples } from "../../support/gate-story/check-examples.ts";

const TOOLS = { tool_schemas: { write: {} } };

/** The rows of the keys of duplicates and retries are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    duplicate_call: async (tell) => {
      const story = await tell(TOOLS);
      await story.done("write");
      return story.outcome("write");
    },
    duplicate_in_flight: async (tell) => {
      const story = await tell(TOOLS);
      await story.propose("write");
      return story.outcome("write");
    },
    outcome_unknown: async (tell) => {
      const story = await tell(TOOLS);
      await story.report(await story.propose("write"), { status: "unknown" });
      return story.outcome("write");
    },
    retry_exhausted: async (tell) => {
      const story = await tell({ ...TOOLS, retries: { max_attempts: 1 } });
      await story.failed("write", {}, "busy", "503");
      return story.outcome("write");
    },
    retry_too_soon: async (tell) => {
      const retries = { max_attempts: 3, retryable_status: [503], backoff_ms: [9_000, 9_000] };
      const story = await tell({ ...TOOLS, retries });
      await story.failed("write", {}, "busy", "503");
      return story.outcome("write");
    },
  },
  keys: [],
};
