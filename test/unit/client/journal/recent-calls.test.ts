import { describe, expect, test } from "vitest";
import {
  type JournaledCall,
  RecentCalls,
} from "../../../../services/client/journal/recent-calls.ts";
import { RecentMap } from "../../../../services/client/journal/recent-map.ts";
import type { SealedValue } from "../../../../services/core/decision.ts";
import type {
  CallAllowed,
  CallHeld,
  GateEvent,
  ResultRecorded,
} from "../../../../services/core/events.ts";
import type { CommittedRecord } from "../../../../services/runtime/journal.ts";

const CONVERSATION = { tenantId: "t", conversationId: "c" } as const;
const POLICY = { revision: "sha256:1", tier: null, tierRule: null, isRead: false } as const;
const CALL = { agentId: null, turn: null, step: null, tool: "pay" } as const;

function allowed(decisionId: string, approvalId: string | null = null): CallAllowed {
  return {
    ...CONVERSATION,
    type: "allowed",
    decisionId,
    call: { ...CALL, callId: decisionId },
    policy: POLICY,
    approval: { approvalId, approvedBy: [] as readonly string[] },
  } as CallAllowed;
}

function held(decisionId: string, holdId: string): CallHeld {
  return {
    ...CONVERSATION,
    type: "held",
    decisionId,
    call: { ...CALL, callId: decisionId },
    arguments: { text: "{}", digest: "", actionKey: "k", sealed: [] as readonly SealedValue[] },
    policy: POLICY,
    holdId,
    approval: { approvalId: null, approvedBy: [] as readonly string[] },
  } as CallHeld;
}

function ended(decisionId: string, status: ResultRecorded["status"] = "succeeded"): GateEvent {
  return {
    ...CONVERSATION,
    type: "result_recorded",
    decisionId,
    status,
  } as unknown as ResultRecorded;
}

function makeOutcomeEvent(type: "outcome_unknown" | "reconciled", decisionId: string): GateEvent {
  return { ...CONVERSATION, type, decisionId } as unknown as GateEvent;
}

/** A recorded start of the call by this claimant, and the gate's answer to it. */
function started(
  decisionId: string,
  type: "result_recorded" | "ignored",
  executorId?: string,
  status = "started",
): CommittedRecord {
  const input = { type: "result", decisionId, status, executorId };
  const event = { type, decisionId, status };
  const record = { input: { type: "decided", input }, events: [event] };
  return { offset: 9, record } as unknown as CommittedRecord;
}

const position = (offset: number) => ({ partition: 0, offset });

/** Calls that come and end, enough to evict everything before. */
function busy(calls: RecentCalls, from: number): void {
  for (let at = 0; at < 60_000; at += 1) {
    calls.learn(allowed(`other ${from + at}`), position(from + at));
    calls.learn(ended(`other ${from + at}`), position(from + at));
  }
}

describe("recent calls", () => {
  test("are found by decision and by hold, with their positions", () => {
    const calls = new RecentCalls();
    calls.learn(held("a", "hold"), position(1));
    expect(calls.held("hold")).toMatchObject({ decisionId: "a", outcome: "held", result: null });
    calls.learn(allowed("a", "hold"), position(2));
    expect(calls.held("hold")).toBeUndefined();
    calls.learn(ended("a"), position(3));
    const expected: Partial<JournaledCall> = {
      outcome: "allowed",
      position: position(2),
      result: position(3),
    };
    expect(calls.get("a")).toMatchObject(expected);
    expect(calls.get("b")).toBeUndefined();
  });

  test("are over once their end is recorded, by whomever", () => {
    const calls = new RecentCalls();
    for (const id of ["a", "b", "c"]) calls.learn(allowed(id), position(1));
    calls.learn(ended("a", "started"), position(2));
    expect(calls.get("a")).toMatchObject({ end: null, isOver: false, result: null });
    calls.learn(ended("a", "unknown"), position(3));
    expect(calls.get("a")).toMatchObject({ end: position(3), isOver: false, result: position(3) });
    calls.learn(makeOutcomeEvent("reconciled", "a"), position(4));
    expect(calls.get("a")).toMatchObject({ end: position(4), isOver: true, result: position(3) });
    calls.learn(makeOutcomeEvent("outcome_unknown", "b"), position(5));
    expect(calls.get("b")).toMatchObject({ end: position(5), isOver: false, result: null });
    calls.learn(ended("b"), position(6));
    expect(calls.get("b")).toMatchObject({ end: position(6), isOver: true, result: position(6) });
    calls.learn(makeOutcomeEvent("reconciled", "nobody"), position(7));
    calls.learn(makeOutcomeEvent("outcome_unknown", "c"), position(8));
    busy(calls, 100);
    expect(calls.get("c")).toMatchObject({ end: position(8) });
    expect([calls.get("a"), calls.get("b")]).toEqual([undefined, undefined]);
  });

  test("are begun by every recorded start, except a guard's without a granted claim", () => {
    const calls = new RecentCalls();
    calls.learn(allowed("a"), position(1));
    expect(calls.get("a")?.start).toBeNull();
    calls.committed([started("a", "ignored", "guard:1")], 0);
    expect(calls.get("a")?.start).toBeNull();
    calls.committed([started("a", "result_recorded", "guard:2")], 0);
    expect(calls.get("a")?.start).toMatchObject({ by: "guard:2" });
    calls.committed([started("a", "ignored", "an executor")], 0);
    expect(calls.get("a")?.start).toMatchObject({ by: "an executor" });
    calls.committed([started("a", "ignored")], 0);
    expect(calls.get("a")).toMatchObject({ start: { by: null }, end: null });
    calls.learn(allowed("b"), position(1));
    calls.committed([started("b", "ignored", undefined, "unknown")], 0);
    expect(calls.get("b")?.start).toMatchObject({ by: null });
  });

  test("stay available while they are open, however many follow", () => {
    const calls = new RecentCalls();
    calls.learn(allowed("slow"), position(1));
    calls.learn(held("waits", "hold"), position(2));
    calls.learn(allowed("quick"), position(3));
    calls.learn(ended("quick"), position(4));
    busy(calls, 100);
    expect(calls.get("slow")).toMatchObject({ callId: "slow", position: position(1) });
    expect(calls.held("hold")).toMatchObject({ callId: "waits" });
    expect(calls.get("quick")).toBeUndefined();
  });

  test("do not come back as open once they have ended", () => {
    const calls = new RecentCalls();
    calls.learn(allowed("slow"), position(1));
    calls.learn(held("waits", "hold"), position(2));
    busy(calls, 100);
    calls.learn(ended("slow"), position(200_000));
    calls.learn(allowed("waits", "hold"), position(200_001));
    busy(calls, 300_000);
    expect(calls.get("slow")).toMatchObject({ result: position(200_000) });
    expect(calls.get("waits")).toMatchObject({ outcome: "allowed", position: position(200_001) });
    expect(calls.held("hold")).toBeUndefined();
  });
});

describe("a recent map", () => {
  test("retains at least half of its bound, and returns evicted entries", () => {
    const map = new RecentMap<number>(10);
    const gone: number[] = [];
    for (let at = 0; at < 100; at += 1) {
      gone.push(...(map.set(String(at), at) ?? []));
      for (let retained = Math.max(0, at - 4); retained <= at; retained += 1) {
        expect(map.get(String(retained))).toBe(retained);
      }
      if (at >= 10) expect(map.get(String(at - 10))).toBeUndefined();
    }
    expect(gone).toEqual(Array.from({ length: 95 }, (_, at) => at));
  });

  test("does not return an evicted entry that has a newer one", () => {
    const map = new RecentMap<string>(4);
    map.set("a", "first");
    map.set("b", "b");
    map.set("a", "second");
    expect([...(map.set("c", "c") ?? [])]).toEqual(["b"]);
    expect(map.get("a")).toBe("second");
  });
});
