import { describe, expect, it } from "vitest";
import { GroupPulse } from "../../../../services/adapters/kafka/membership/group-pulse.ts";

const SESSION_MS = 6_000;

function joinedAt(atMs: number): GroupPulse {
  const pulse = new GroupPulse(SESSION_MS);
  pulse.joining();
  pulse.joined(atMs);
  return pulse;
}

describe("GroupPulse", () => {
  it("is idle once no answer came for longer than a session", () => {
    const pulse = joinedAt(1_000);
    expect(pulse.isIdle(7_000)).toBe(false);
    expect(pulse.isIdle(7_001)).toBe(true);
  });

  it("counts from the latest answered heartbeat, not from an unanswered one", () => {
    const pulse = joinedAt(1_000);
    pulse.heartbeatSent(3_000);
    pulse.heartbeatAnswered();
    pulse.heartbeatSent(8_000);
    expect(pulse.answeredSentAtMs).toBe(3_000);
    expect(pulse.isIdle(9_000)).toBe(false);
    expect(pulse.isIdle(9_001)).toBe(true);
  });

  it("does not go back to a heartbeat from before the latest join", () => {
    const pulse = joinedAt(1_000);
    pulse.heartbeatSent(2_000);
    pulse.joined(5_000);
    pulse.heartbeatAnswered();
    expect(pulse.isIdle(10_000)).toBe(false);
  });

  it("waits during a rebalance, in which no heartbeat is sent", () => {
    const pulse = joinedAt(1_000);
    pulse.joining();
    expect(pulse.isIdle(12_000)).toBe(false);
    expect(pulse.isIdle(18_000)).toBe(true);
  });

  it("does not wait after the client has ended", () => {
    const pulse = joinedAt(1_000);
    pulse.joining();
    pulse.ended();
    expect(pulse.isIdle(12_000)).toBe(true);
  });

  it("is not idle after an answer comes again", () => {
    const pulse = joinedAt(1_000);
    expect(pulse.isIdle(60_000)).toBe(true);
    pulse.joined(60_000);
    expect(pulse.isIdle(60_100)).toBe(false);
  });
});
