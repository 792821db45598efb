import { describe, expect, test } from "vitest";
import { compileKill } from "../../../../services/core/policy/compile-kill.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { MINUTE, startStory } from "../../../support/decider-spec.ts";

const CALL = { tool: "github/delete_file", agentId: "agent", tenantId: "acme" };

describe("the kill switch returns its line", () => {
  test.each<readonly [NonNullable<PolicyDocument["kill"]>, string | null]>([
    [{ all: true }, "kill.all"],
    [{ all: false }, null],
    [{ tools: ["other", "delete_*"] }, "kill.tools[1]"],
    [{ tools: ["delete"] }, null],
    [{ agents: ["agent"] }, "kill.agents[0]"],
    [{ agents: ["agent-2"] }, null],
    [{ tenants: ["ac*"] }, "kill.tenants[0]"],
    [{}, null],
  ])("%j: %s", (kill, rule) => {
    expect(compileKill(kill)(CALL)).toBe(rule);
  });

  test("a call without an agent matches no agent's line", () => {
    expect(compileKill({ agents: ["*"] })({ ...CALL, agentId: null })).toBeNull();
  });
});

describe("a killed tool", () => {
  const tools: PolicyDocument = { tool_schemas: { write: { suggest: ["look"] }, look: {} } };

  test("is refused in any mode, even where it is undeclared", () => {
    const story = startStory({ ...tools, mode: "shadow", kill: { tools: ["write", "nowhere"] } });
    for (const tool of ["write", "nowhere"]) {
      expect(story.refused(tool).refusal).toMatchObject({ reason: "killed", disposition: "stop" });
    }
    story.allowed("look");
  });

  test("is not suggested", () => {
    const refused = (kill: PolicyDocument["kill"]) => {
      const story = startStory({ ...tools, ...(kill === undefined ? {} : { kill }) });
      story.done("write");
      return story.refused("write").refusal.suggestedNext;
    };
    expect([refused(undefined), refused({ tools: ["look"] })]).toEqual([["look"], []]);
  });

  test("is not run by an approval that comes after the switch", () => {
    const held: PolicyDocument = { tool_schemas: { drop: { risk_level: "HIGH" } } };
    const story = startStory(held);
    const waiting = story.held("drop");
    story.under({ ...held, kill: { tools: ["drop"] } }).after(MINUTE);
    expect(story.approved(waiting)).toMatchObject({
      type: "refused",
      refusal: { reason: "killed", rule: "kill.tools[0]" },
    });
  });
});
