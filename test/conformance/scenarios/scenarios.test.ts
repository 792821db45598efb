// Plays complaints of users of guards, each as one conversation through the library.
import { expect, test } from "vitest";
import {
  figuresOfCorpus,
  type Played,
  playScenario,
} from "../../support/gate-story/play-scenario.ts";
import { readScenarios } from "../../support/gate-story/scenario.ts";

const scenarios = readScenarios();
const played: Played[] = [];

test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, one) => {
  const result = await playScenario(one);
  played.push(result);
  expect(result.wrong).toEqual([]);
  expect(result.calls).toBeGreaterThan(0);
});

test("precision and recall are 100 % over scenarios of both kinds", () => {
  const kinds = new Set(played.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(["positive", "negative"]));
  expect(figuresOfCorpus(played)).toMatchObject({
    scenarios: scenarios.length,
    precision: 1,
    recall: 1,
  });
});
