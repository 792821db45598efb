import { expect, test } from "vitest";
import type { ConfirmedCall } from "../../../../services/core/inputs.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const TOOL_ALONE: ConfirmedCall = { tool: "write", callId: null, argumentsDigest: null };

/** The outcome of a second, equal call with a confirmation that the platform signed. */
function confirmedAs(confirms: (story: Story) => ConfirmedCall | null): string {
  const story = startStory({ tool_schemas: { write: {} } });
  const { arguments: args } = story.done("write", { id: 1 });
  expect(args.digest).not.toBe("");
  const vouched = { tokenId: "t", keyId: "k", expiresAtMs: story.nowMs, confirms: confirms(story) };
  const again = { confirmation: "yes", callId: "again", vouched };
  return story.proposed("write", { id: 1 }, again).type;
}

test("a signed confirmation counts for the call that it names, by id or by arguments", () => {
  expect(confirmedAs(() => ({ ...TOOL_ALONE, callId: "again" }))).toBe("allowed");
  const digestOf = ({ journal }: Story): string => {
    const [first] = journal;
    return first?.type === "allowed" ? first.arguments.digest : "";
  };
  expect(confirmedAs((story) => ({ ...TOOL_ALONE, argumentsDigest: digestOf(story) }))).toBe(
    "allowed",
  );
});

test.each<readonly [string, ConfirmedCall | null]>([
  ["no call", null],
  ["another tool", { ...TOOL_ALONE, tool: "other", callId: "again" }],
  ["a tool alone", TOOL_ALONE],
  ["another call of the tool", { ...TOOL_ALONE, callId: "first" }],
  ["other arguments of the tool", { ...TOOL_ALONE, argumentsDigest: "0".repeat(64) }],
])("a signed confirmation of %s counts for nothing", (_what, confirms) => {
  expect(confirmedAs(() => confirms)).toBe("refused");
});
