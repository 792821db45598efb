// Stores the journal that this version writes of a story: `npx tsx
// test/support/journals/record-journal.ts v3-first first`. An existing file is not changed.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Topic } from "../../../services/runtime/topics.ts";
import { EVERY_STORY } from "./every-story.ts";
import { JOURNALS_FOLDER, type RecordedRow } from "./recorded-journal.ts";
import { type Story, StoryRun } from "./story-run.ts";

const RECORDED_TOPICS: readonly Topic[] = [
  "proposals",
  "results",
  "verdicts",
  "decisions",
  "allowed",
];
const EVERYTHING = { recordsMax: 1_000_000, bytesMax: Number.MAX_SAFE_INTEGER };

const [name, storyName] = process.argv.slice(2);
const story: Story | undefined = EVERY_STORY[storyName ?? ""];
if (name === undefined || story === undefined) {
  throw new Error(`name the file and the story (${Object.keys(EVERY_STORY).join(", ")})`);
}
const path = join(JOURNALS_FOLDER, `${name}.json`);
if (existsSync(path))
  throw new Error(`${name}.json is there: what a version wrote does not change`);

const run = new StoryRun(story.document, `sha256:${storyName}`);
await story.play(run);
const lines: string[] = [];
for (const topic of RECORDED_TOPICS) {
  const { records } = await run.kit.log.read(topic, 0, 0, EVERYTHING);
  for (const { offset, appendTimeMs, key, value } of records) {
    const text = key === null ? null : Buffer.from(key).toString("utf8");
    const bytes = Buffer.from(value ?? []).toString("base64");
    const row: RecordedRow = [topic, offset, appendTimeMs, text, bytes];
    lines.push(JSON.stringify(row));
  }
}
await run.kit.close();
writeFileSync(path, `{"story":"${storyName}","records":[\n${lines.join(",\n")}\n]}\n`);
