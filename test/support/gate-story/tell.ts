// Stories that close with their test, and the published policy templates.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { GateStory, type StoryOptions } from "./gate-story.ts";

export function tell(policy: StoryOptions["policy"], dataDir?: string): Promise<GateStory> {
  return tellWith(dataDir === undefined ? { policy } : { policy, dataDir });
}

export async function tellWith(options: StoryOptions): Promise<GateStory> {
  const story = await GateStory.open(options);
  onTestFinished(() => story.close());
  return story;
}

/** Path of a published template, unchanged. */
export function templatePath(name: "t1" | "t2" | "t3" | "t4"): string {
  return fileURLToPath(new URL(`../../fixtures/policies/templates/${name}.yaml`, import.meta.url));
}

export function templateText(name: "t1" | "t2" | "t3" | "t4"): string {
  return readFileSync(templatePath(name), "utf8");
}
