import { FIRST_STORY } from "./first-story.ts";
import { SECOND_STORY } from "./second-story.ts";
import type { Story } from "./story-run.ts";

export const EVERY_STORY: Readonly<Record<string, Story>> = {
  first: FIRST_STORY,
  second: SECOND_STORY,
};
