// Several agents in one conversation: what they read and try is judged as if each were alone.
import fc from "fast-check";
import { expect, test } from "vitest";
import { startStory } from "../../support/decider-spec.ts";

const POLICY = {
  escalation: { user_input: "off" as const },
  tool_schemas: { look: { read_only: true }, watch: { volatile: true } },
};

const steps = fc.array(
  fc.record({
    agent: fc.constantFrom("a", "b", "c"),
    tool: fc.constantFrom("look", "watch"),
    id: fc.nat(1),
    output: fc.constantFrom("one", "two", null),
    waitMs: fc.constantFrom(0, 1_000, 60_000),
  }),
  { maxLength: 40 },
);

/** What each call of the agents got, with the calls of others left out but not their time. */
function play(all: Parameters<Parameters<typeof steps.map>[0]>[0], of: readonly string[]) {
  const story = startStory(POLICY);
  return all.map(({ agent, tool, id, output, waitMs }) => {
    story.after(waitMs);
    if (!of.includes(agent)) return null;
    const event = story.proposed(tool, { id }, { agentId: agent });
    if (event.type === "refused") return [agent, event.refusal.reason, event.refusal.level];
    if (event.type !== "allowed") throw new Error(`${event.type} was not expected`);
    const failed = {
      status: "failed" as const,
      error: { code: "E", message: "no", retryable: null },
    };
    story.reported(event, output === null ? failed : { output });
    return [agent, "allowed", event.notices.warnings.map(({ reason }) => reason)];
  });
}

test("agents that only read are judged as if each were alone", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const together = play(all, ["a", "b", "c"]);
      for (const agent of ["a", "b", "c"]) {
        const alone = play(all, [agent]);
        expect(together.filter((_, at) => all[at]?.agent === agent)).toEqual(
          alone.filter((one) => one !== null),
        );
      }
    }),
    { numRuns: 60 },
  );
});
