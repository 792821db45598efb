import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { stateFromText, stateText } from "../../../support/core/state-text.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  checks: { near_duplicate: "enforce" },
  tool_schemas: {
    write_file: { similarity: [{ field: "content", threshold: 0.9, with: ["path"] }] },
    other: {},
    look: { read_only: true },
  },
};

const LINES = Array.from({ length: 100 }, (_, n) => `line ${n} says something`).join("\n");
const NEARLY = LINES.replace("line 99 says something", "line 99 says nothing");

function file(content: string, path = "a.py") {
  return { path, content };
}

function written(policy = POLICY): Story {
  const story = startStory(policy);
  story.done("write_file", file(LINES));
  return story;
}

test("a call with nearly the same content for the same file is refused, and the refusal names the earlier call", () => {
  const story = written();
  story.done("look");
  const { refusal, strike } = story.refused("write_file", file(NEARLY));
  expect(refusal).toMatchObject({
    reason: "near_duplicate",
    rule: "tool_schemas.write_file.similarity[0]",
    previousCall: { tool: "write_file", callId: "call-1" },
  });
  expect(refusal.message).toMatch(/`content` is 9\d % like that of call call-1/);
  expect(strike?.count).toBe(1);
});

test("`balanced` only warns", () => {
  const { checks: _enforced, ...balanced } = POLICY;
  const {
    notices: { warnings },
  } = written(balanced).allowed("write_file", file(NEARLY));
  expect(warnings.map(({ reason }) => reason)).toEqual(["near_duplicate"]);
});

describe("a near duplicate is not", () => {
  test("the same call again, which its tool may repeat", () => {
    const similarity = [{ field: "text", threshold: 0.9 }];
    const story = startStory({
      ...POLICY,
      tool_schemas: { log: { repeatable: true, similarity } },
    });
    story.done("log", { text: LINES });
    story.allowed("log", { text: LINES });
  });

  test("a call for another file, with other content, or without the field", () => {
    const story = written();
    story.allowed("write_file", file(NEARLY, "b.py"));
    story.allowed("write_file", file(LINES.slice(0, LINES.length / 2)));
    story.allowed("write_file", { path: "a.py" });
  });

  test("a call after another write, in a new turn, with a confirmation, or after a failure of the earlier one", () => {
    const story = written();
    story.done("other");
    story.done("write_file", file(NEARLY));
    written().turn("2").allowed("write_file", file(NEARLY));
    written().allowed("write_file", file(NEARLY), { confirmation: "yes" });
    const failed = startStory(POLICY);
    failed.failed("write_file", file(LINES));
    failed.allowed("write_file", file(NEARLY));
  });
});

test("a snapshot contains the sketches", () => {
  const story = written();
  if (story.state !== undefined) story.state = stateFromText(stateText(story.state));
  expect(story.reason("write_file", file(NEARLY))).toBe("near_duplicate");
});
