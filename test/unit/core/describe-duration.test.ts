import fc from "fast-check";
import { expect, it } from "vitest";
import { describeDuration } from "../../../services/core/describe-duration.ts";

it.each([
  [0, "1 second"],
  [1, "1 second"],
  [1_000, "1 second"],
  [1_001, "2 seconds"],
  [119_999, "120 seconds"],
  [120_000, "2 minutes"],
  [7_200_000, "2 hours"],
  [172_799_999, "48 hours"],
  [172_800_000, "2 days"],
  [172_800_001, "3 days"],
])("says %d ms as %s", (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});

const UNIT_MS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

it("never says less than the time, and at most half as much again", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2_000, max: 10 ** 11 }), (ms) => {
      const [count = "", unit = ""] = describeDuration(ms).split(" ");
      const said = Number(count) * UNIT_MS[unit.replace(/s$/, "") as keyof typeof UNIT_MS];
      expect(said).toBeGreaterThanOrEqual(ms);
      expect(said).toBeLessThanOrEqual(ms * 1.5);
    }),
  );
});
