import { describe, expect, it } from "vitest";
import {
  extendBaseline,
  SPIKE_OPTIONS,
  spikeThreshold,
} from "../../../services/analytics/baseline.ts";

const USUAL = Array.from({ length: 30 }, (_, index) => 100 + (index % 3));

describe("spikeThreshold", () => {
  it("is absent until enough conversations have ended", () => {
    expect(spikeThreshold(USUAL.slice(1), "calls", SPIKE_OPTIONS)).toBeNull();
    expect(spikeThreshold(USUAL, "calls", SPIKE_OPTIONS)).not.toBeNull();
  });

  it("uses a tenth of the median as the spread where nearly all values are equal", () => {
    const threshold = spikeThreshold(new Array(30).fill(100), "calls", SPIKE_OPTIONS);

    expect(threshold).toBeCloseTo(100 + 6 * 10);
  });

  it("uses the spread of the values where there is one", () => {
    const wide = Array.from({ length: 31 }, (_, index) => index * 10);

    expect(spikeThreshold(wide, "calls", SPIKE_OPTIONS)).toBeCloseTo(150 + 6 * 1.4826 * 80);
  });

  it("is never below the floor", () => {
    expect(spikeThreshold(new Array(30).fill(1), "calls", SPIKE_OPTIONS)).toBe(20);
  });

  it("hardly changes with a few runaway conversations", () => {
    const runaways = [...USUAL, 1e6, 1e6, 1e6];

    expect(spikeThreshold(runaways, "calls", SPIKE_OPTIONS)).toBeLessThan(200);
  });
});

describe("extendBaseline", () => {
  it("keeps the latest values up to its limit", () => {
    const options = { ...SPIKE_OPTIONS, conversationsMax: 3 };

    expect(extendBaseline([1, 2, 3], 4, options)).toEqual([2, 3, 4]);
  });
});
