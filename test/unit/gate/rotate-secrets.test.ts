import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { rotateSecrets } from "../../../services/gate/rotate-secrets.ts";

const FROM_MS = 10_000;
const TIMED = [
  { id: "old", keyId: "a", fromMs: Number.NEGATIVE_INFINITY },
  { id: "new", keyId: "b", fromMs: FROM_MS },
];

/** A policy that takes the secret over, except for the first `failures` times. */
function rotate(timed = TIMED, failures = 0) {
  const steps: string[] = [];
  let keyId = "a";
  let tries = 0;
  const end = rotateSecrets({
    timed,
    clock: { nowMs: () => Date.now() },
    secrets: { use: (next) => void steps.push(`use ${next}`) },
    policy: {
      get current() {
        return { keyId } as CompiledPolicy;
      },
      renewSecret: async () => {
        steps.push("renew");
        tries += 1;
        if (tries > failures) keyId = "b";
      },
    },
  });
  return { steps, end };
}

describe("a gate with several secrets", () => {
  beforeEach(() => vi.useFakeTimers({ now: 0 }));
  afterEach(() => vi.useRealTimers());

  test("uses the next one when its time has come, first in the store and then in the policy", () => {
    const { steps, end } = rotate();
    vi.advanceTimersByTime(FROM_MS - 1);
    expect(steps).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(steps).toEqual(["use b", "renew"]);
    vi.advanceTimersByTime(3_600_000);
    expect(steps).toHaveLength(2);
    end();
  });

  test("tries again after a minute where the policy did not take it over", () => {
    const { steps, end } = rotate(TIMED, 1);
    vi.advanceTimersByTime(FROM_MS + 59_000);
    expect(steps).toEqual(["use b", "renew"]);
    vi.advanceTimersByTime(2_000);
    expect(steps).toEqual(["use b", "renew", "use b", "renew"]);
    end();
  });

  test("does nothing with one secret, and after its end", () => {
    rotate(TIMED.slice(0, 1));
    expect(vi.getTimerCount()).toBe(0);
    const { end } = rotate();
    end();
    expect(vi.getTimerCount()).toBe(0);
  });
});
