import { describe, expect, test } from "vitest";
import { fetchOffsetsOfAll } from "../../../../services/adapters/kafka/transactions/kafka-ownership.ts";

const TOPICS = ["proposals", "results"];

function offsetsOf(topic: string, partitions: readonly number[]) {
  return {
    topic,
    partitions: partitions.map((partition) => ({ partition, offset: "7", metadata: null })),
  };
}

/** Returns the answers one after the other, and repeats the last. */
function adminWith(answers: readonly ReturnType<typeof offsetsOf>[][]) {
  let asked = 0;
  const fetchOffsets = async () => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    return answer;
  };
  return { fetchOffsets, asked: () => asked };
}

const whole = TOPICS.map((topic) => offsetsOf(topic, [0, 1]));

describe("the offsets of a group", () => {
  test("are requested again where an answer lacks a topic or its partition", async () => {
    const [first = offsetsOf("", [])] = whole;
    const admin = adminWith([
      [first],
      [first, offsetsOf("results", [])],
      [first, offsetsOf("results", [0])],
      whole,
    ]);
    expect(await fetchOffsetsOfAll(admin, "g", TOPICS, 1)).toEqual(whole);
    expect(admin.asked()).toBe(4);
  });

  test("are an error where no answer has them, and not the first offset", async () => {
    const offsets = fetchOffsetsOfAll(adminWith([[offsetsOf("proposals", [0])]]), "g", TOPICS, 0);
    await expect(offsets).rejects.toMatchObject({
      disposition: "retry",
      message: expect.stringContaining("group g for partition 0 of proposals, results"),
    });
  });
});
