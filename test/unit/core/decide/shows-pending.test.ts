import { describe, expect, test } from "vitest";
import { showsPending } from "../../../../services/core/decide/shows-pending.ts";
import { MINUTE, SECOND, startStory } from "../../../support/decider-spec.ts";

test.each([
  '{"state": "running", "done": 3}',
  '{"job":{"status":"queued"}}',
  '{"phase":"In progress"}',
  '{"phase":"in_progress"}',
  '{ "status" : "PENDING" }',
])("takes %s for work that goes on", (output) => {
  expect(showsPending(output)).toBe(true);
});

test.each([
  null,
  "running",
  '{"status": "done", "note": "was running"}',
  '{"status": "running late"}',
  '{"state": ["running"]}',
  '{"last_status": "running"}',
])("takes %s for no such work", (output) => {
  expect(showsPending(output)).toBe(false);
});

describe("a read of work that goes on", () => {
  const POLICY = { tool_schemas: { get_job: { read_only: true }, other: { read_only: true } } };

  test("looks again within its cache time, until the work has ended", () => {
    const story = startStory(POLICY);
    for (let done = 0; done < 4; done += 1) {
      story.done("get_job", { id: 1 }, `{"state":"running","done":${done}}`);
      story.after(5 * SECOND);
    }
    story.done("get_job", { id: 1 }, '{"state":"finished"}');
    expect(story.refused("get_job", { id: 1 }).refusal).toMatchObject({
      reason: "duplicate_call",
      disposition: "use_previous_result",
    });
    story.after(MINUTE).allowed("get_job", { id: 1 });
  });

  test("is a repeat where it is made at once and gives one output", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 2; n += 1) story.done("get_job", {}, '{"status":"queued"}');
    expect(story.reason("get_job")).toBe("loop_repeat");
    story.after(10 * SECOND).allowed("get_job");
  });
});
