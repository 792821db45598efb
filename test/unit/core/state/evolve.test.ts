import { describe, expect, test } from "vitest";
import type { GateEvent } from "../../../../services/core/events.ts";
import { evolve } from "../../../../services/core/state/evolve.ts";
import { startStory } from "../../../support/decider-spec.ts";

const POLICY = { tool_schemas: { look: { read_only: true }, write: {} } } as const;

describe("evolve", () => {
  test("keeps the state where nothing happened", () => {
    const story = startStory(POLICY);
    const proposal = story.proposal("write");
    story.when(proposal);
    const state = story.state;
    const call = story.journal[0] as Extract<GateEvent, { type: "allowed" }>;
    for (const event of [...story.when(proposal), story.reported(call, { callId: "other" })]) {
      expect(evolve(state, event)).toBe(state);
    }
    expect(evolve(undefined, story.when(proposal)[0] as GateEvent)).toBeUndefined();
  });

  test.each(["overloaded", "misrouted", "unauthenticated"] as const)(
    "begins no conversation with a proposal that is %s, and changes none",
    (reason) => {
      const rejected = { reason, message: "no" };
      const event = startStory(POLICY).refused("look", {}, { rejected });
      expect(evolve(undefined, event)).toBeUndefined();
      const lapsed = startStory(POLICY);
      lapsed.done("look");
      expect(evolve(lapsed.state, event)).toBe(lapsed.state);
    },
  );

  test("refuses an outcome of a conversation that does not exist", () => {
    const story = startStory(POLICY);
    const recorded = story.reported(story.allowed("write"), { output: "fine" });
    expect(() => evolve(undefined, recorded)).toThrow(/`result_recorded` needs a conversation/);
  });

  test("ignores an outcome of a call that the conversation does not have", () => {
    const story = startStory(POLICY);
    const recorded = story.reported(story.allowed("write"), { output: "fine" });
    const other = startStory(POLICY);
    other.done("look");
    expect(evolve(other.state, recorded)).toBe(other.state);
  });

  test("ends the only hold of a call that is allowed anew because its name was forgotten", () => {
    const ask = { tiers: [{ name: "ask", pattern: "write", action: "hitl" }] } as const;
    const name = { callId: "c", step: "s" };
    const held = startStory({ ...POLICY, authorization: ask });
    const hold = held.held("write", {}, name);
    const other = startStory(POLICY);
    other.done("look");
    const anew = other.allowed("write", {}, name);
    expect(anew.decisionId).toBe(hold.decisionId);
    expect(held.state?.openIndex.heldCount).toBe(1);
    const state = evolve(held.state, anew);
    expect(state?.openIndex.heldCount).toBe(0);
    expect(state?.heldTime.sinceMs).toBeNull();
  });

  test("needs no policy: a journal gives the same state under any", () => {
    const story = startStory(POLICY);
    story.done("look");
    story.refused("look");
    story.under({ tool_schemas: {}, unknown_tools: "allow" }).done("write");
    let state: ReturnType<typeof evolve>;
    for (const event of story.journal) state = evolve(state, event);
    expect(state).toEqual(story.state);
  });
});
