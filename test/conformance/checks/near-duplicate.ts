import type { CheckExamples } from "../../support/gate-story/check-examples.ts";

const PAGE = {
  tool_schemas: {
    page: {
      similarity: [{ field: "text", threshold: 0.8 }],
      checks: { near_duplicate: "enforce" },
    },
  },
};

const words = (count: number): string =>
  Array.from({ length: count }, (_, n) => `word${n}`).join(" ");

export const examples: CheckExamples = {
  reasons: {
    near_duplicate: async (tell) => {
      const story = await tell(PAGE);
      await story.done("page", { text: words(80) });
      return story.outcome("page", { text: `${words(80)} more` });
    },
  },
  keys: [
    {
      key: "tool_schemas.*.similarity",
      values: [[{ field: "a", threshold: 0.5 }], undefined],
      base: { tool_schemas: { t: {} } },
      steps: [
        { tool: "t", args: { a: words(60) } },
        { tool: "t", args: { a: `${words(60)} and more` } },
      ],
    },
  ],
};
