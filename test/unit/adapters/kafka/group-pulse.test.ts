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
  it("is silent once nothing was heard for longer than a session", () => {
    const pulse = joinedAt(1_000);
    expect(pulse.isIdle(7_000)).toBe(false);
    expect(pulse.isIdle(7_001)).toBe(true);
  });

  it("counts from when the heartbeat was sent that was answered, not from one that nobody answers", () => {
    const pulse = joinedAt(1_000);
    pulse.heartbeatSent(3_000);
    pulse.heartbeatAnswered();
    pulse.heartbeatSent(8_000);
    expect(pulse.answeredSentAtMs).toBe(3_000);
    expect(pulse.isIdle(9_000)).toBe(false);
    expect(pulse.isIdle(9_001)).toBe(true);
  });

  it("does not go back to a heartbeat that was sent before the last join", () => {
    const pulse = joinedAt(1_000);
    pulse.heartbeatSent(2_000);
    pulse.joined(5_000);
    pulse.heartbeatAnswered();
    expect(pulse.isIdle(10_000)).toBe(false);
  });

  it("gives the group time to give its numbers out, in which no heartbeat is sent", () => {
    const pulse = joinedAt(1_000);
    pulse.joining();
    expect(pulse.isIdle(12_000)).toBe(false);
    expect(pulse.isIdle(18_000)).toBe(true);
  });

  it("gives none where the client has given up", () => {
    const pulse = joinedAt(1_000);
    pulse.joining();
    pulse.ended();
    expect(pulse.isIdle(12_000)).toBe(true);
  });

  it("hears again what comes back", () => {
    const pulse = joinedAt(1_000);
    expect(pulse.isIdle(60_000)).toBe(true);
    pulse.joined(60_000);
    expect(pulse.isIdle(60_100)).toBe(false);
  });
});
