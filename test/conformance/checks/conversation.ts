import type { CheckExamples, TellGate } from "../../support/gate-story/check-examples.ts";

/** A refused repeat moves the conversation up the ladder, which the call after it meets. */
async function afterRepeat(tell: TellGate, policy: object): Promise<string> {
  const story = await tell({ tool_schemas: { write: {} }, ...policy });
  await story.done("write");
  await story.propose("write");
  return story.outcome("write", { other: true });
}

/** The rows of the keys of escalation are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    conversation_ended: (tell) => afterRepeat(tell, { escalation: { user_input: "off", end: 1 } }),
    user_input_required: (tell) => afterRepeat(tell, { escalation: { options: 1, user_input: 1 } }),
  },
  keys: [],
};
