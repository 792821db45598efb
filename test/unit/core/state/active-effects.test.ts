import { expect, test } from "vitest";
import { emptyTrie, trieGet, trieSet } from "../../../../services/collections/trie.ts";
import { LIMITS } from "../../../../services/core/limits.ts";
import { addEffects } from "../../../../services/core/state/active-effects.ts";
import { type ConversationState, initialState } from "../../../../services/core/state/state.ts";
import { startStory } from "../../../support/decider-spec.ts";

const POLICY = {
  tool_schemas: { charge: { effects: [{ resource: "order/{id}/payment", kind: "charge" }] } },
} as const;

const listActiveEffects = ({ state }: { readonly state: ConversationState | undefined }) =>
  trieGet(state?.effects ?? emptyTrie<never>(), "order/7/payment");

test("a later effect replaces one that certainly happened", () => {
  const story = startStory(POLICY);
  story.done("charge", { id: 7 });
  const again = story.allowed("charge", { id: 7 }, { confirmation: "yes" });
  expect(listActiveEffects(story)).toHaveLength(2);
  story.reported(again, { output: "charged" });
  expect(listActiveEffects(story)).toHaveLength(1);
});

test("an effect that never happened leaves nothing behind", () => {
  const story = startStory(POLICY);
  const call = story.allowed("charge", { id: 7 });
  expect(story.state?.effectIndex.parts.size).toBe(2);
  story.reported(call, { status: "not_executed" });
  expect([story.state?.effects.size, story.state?.effectIndex.parts.size]).toEqual([0, 0]);
});

test("beyond the bound only a resource that has an effect gets another", () => {
  const story = startStory(POLICY);
  const event = story.allowed("charge", { id: 7 });
  const holders = listActiveEffects(story) ?? [];
  let effects = emptyTrie<typeof holders>();
  for (let n = 1; n < LIMITS.exclusiveEffects; n += 1)
    effects = trieSet(effects, `r/${n}`, holders);
  const state = { ...initialState("t", "c", 0), effects };
  addEffects(state, event);
  expect(state.effects.size).toBe(8_192);
  const full = { ...state, effects: trieSet(effects, "other", holders) };
  addEffects(full, event);
  expect([full.effects.size, trieGet(full.effects, "order/7/payment")]).toEqual([8_192, undefined]);
});
