/**
 * The scenarios, which need no recordings: each is one complaint about a guard, with the right
 * decisions.
 */
import { figuresOfCorpus, type Played, playScenario } from "../support/gate-story/play-scenario.ts";
import { readScenarios } from "../support/gate-story/scenario.ts";

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Plays and prints the scenarios. Returns whether every one was right. */
export async function playCorpus(print: (text: string) => void): Promise<boolean> {
  const played: Played[] = [];
  for (const scenario of readScenarios()) played.push(await playScenario(scenario));
  print("## Scenarios\n");
  for (const { name, wrong } of played) {
    for (const problem of wrong) print(`FAILED ${name}: ${problem}`);
  }
  const { scenarios, right, calls, precision, recall } = figuresOfCorpus(played);
  const figures = `precision ${percent(precision)}, recall ${percent(recall)}`;
  print(`${right} of ${scenarios} scenarios right, ${calls} calls, ${figures}\n`);
  return right === scenarios;
}
