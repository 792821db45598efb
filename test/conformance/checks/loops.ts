import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";
import type { CheckExamples } from "../../support/gate-story/check-examples.ts";

const TOOLS = {
  tool_schemas: { look: { read_only: true }, often: { repeatable: true, frequency: "1/min" } },
};

const enforced = (code: ReasonCode): object => ({ ...TOOLS, checks: { [code]: "enforce" } });

/** The rows of the keys of loops are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    loop_repeat: async (tell) => {
      const story = await tell({ tool_schemas: { ping: { repeatable: true } } });
      await story.done("ping");
      await story.done("ping");
      return story.outcome("ping");
    },
    loop_cycle: async (tell) => {
      const checks = { loop_repeat: "off" };
      const story = await tell({ checks, tool_schemas: { ping: { repeatable: true } } });
      for (let n = 0; n < 5; n++) await story.done("ping", { n: n % 2 }, "same");
      return story.outcome("ping", { n: 1 });
    },
    loop_no_progress: async (tell) => {
      const story = await tell(enforced("loop_no_progress"));
      for (let n = 0; n < 3; n++) await story.done("look", { n }, "same");
      return story.outcome("look", { n: 3 });
    },
    loop_drift: async (tell) => {
      const story = await tell({ ...TOOLS, loops: { drift: { warn: 2, refuse: 2 } } });
      for (let n = 0; n < 3; n++) await story.done("look", { n }, "nothing");
      return story.outcome("look", { n: 3 });
    },
    loop_rotation: async (tell) => {
      const checks = { loop_repeat: "off", loop_cycle: "off", loop_rotation: "enforce" };
      const story = await tell({ checks, tool_schemas: { spin: { volatile: true } } });
      for (let n = 0; n < 24; n++) await story.done("spin", { n: n % 5 }, `${n % 5}`);
      return story.outcome("spin", { n: 4 });
    },
    failure_streak: async (tell) => {
      const story = await tell(TOOLS);
      for (let n = 0; n < 3; n++) await story.failed("look", {}, "no", "E1");
      return story.outcome("look");
    },
    failure_run: async (tell) => {
      const story = await tell(enforced("failure_run"));
      for (let n = 0; n < 5; n++) await story.failed("look", { n }, "no", "E1");
      return story.outcome("look", { n: 5 });
    },
    tool_frequency: async (tell) => {
      const story = await tell(TOOLS);
      await story.done("often", { n: 1 });
      return story.outcome("often", { n: 2 });
    },
  },
  keys: [],
};
