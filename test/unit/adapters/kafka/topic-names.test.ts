import { expect, it } from "vitest";
import { topicNames } from "../../../../services/adapters/kafka/topics/topic-names.ts";

it("builds names from a prefix, and uses an explicit name unchanged", () => {
  const names = topicNames("acme.toolcalls", { decisions: "journal" });
  expect(names).toMatchObject({
    proposals: "acme.toolcalls.proposed.v1",
    deadLetters: "acme.toolcalls.dead-letter.v1",
    decisions: "journal",
  });
  expect(new Set(Object.values(names)).size).toBe(9);
});
