// Guarded calls whose gate does not answer in time: those that did not run are reported so, and can
// be made again.
import { describe, expect, test, vi } from "vitest";
import { type Callgate, isRefused } from "../../../../services/library/callgate.ts";
import { RetryableError } from "../../../../services/runtime/errors.ts";
import type { CommittedRecord } from "../../../../services/runtime/journal.ts";
import { openMuted } from "../../../support/muted-gate.ts";
import { openGate } from "../../../support/open-gate.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };
const CALL = { ...CONTEXT, callId: "call-7", tool: "pay", arguments: {} };
const FULL = new RetryableError("log_full", "the disk is full");
const UNANSWERED = { reason: "gate_unavailable", detail: "timeout" };

const hasStatus =
  (...statuses: readonly string[]) =>
  ({ record: { events } }: CommittedRecord): boolean =>
    events[0]?.type === "result_recorded" && statuses.includes(events[0].status);

/** A gate that hides the outcome of the first call's claim from its client. */
async function unclaimed(times: object = {}) {
  const muted = await openMuted({ pay: times });
  let paid = 0;
  const { pay } = muted.gate.guard({ pay: (_: object) => `paid ${++paid}` }, CONTEXT);
  const ask = () => pay({}, { callId: CALL.callId });
  muted.mute(hasStatus("started"));
  expect(await ask()).toMatchObject(UNANSWERED);
  return { ...muted, ask, paid: () => paid };
}

async function idOf({ gate }: { readonly gate: Callgate }): Promise<string> {
  return (await gate.propose(CALL)).decisionId ?? "";
}

describe("a guarded write whose claim got no answer", () => {
  test("runs once if it is asked for again, by however many callers", async () => {
    const { ask, unmute, paid } = await unclaimed();
    expect(await ask()).toMatchObject(UNANSWERED);
    unmute();
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(["paid 1", "paid 1", "paid 1"]);
    expect(await ask()).toBe("paid 1");
    expect(paid()).toBe(1);
  });

  test("is not executed if it is asked for again too late", async () => {
    const muted = await unclaimed({ start_within_ms: 50, time_limit_ms: 50 });
    muted.unmute();
    const decisionId = await idOf(muted);
    await muted.gate.awaitResult(decisionId);
    expect(await muted.ask()).toMatchObject({
      reason: "gate_unavailable",
      message: expect.stringContaining("Make it again as a new call"),
    });
    expect((await muted.gate.awaitResult(decisionId)).status).toBe("not_executed");
    expect(muted.paid()).toBe(0);
  });

  test("is not executed if nobody asks for it again", async () => {
    const muted = await unclaimed({ start_within_ms: 50, time_limit_ms: 50 });
    muted.unmute();
    const decisionId = await idOf(muted);
    const status = async () => (await muted.gate.awaitResult(decisionId)).status;
    await expect.poll(status).toBe("not_executed");
    expect(await muted.ask()).toMatchObject({ message: expect.stringContaining("new call") });
    expect(muted.paid()).toBe(0);
  });

  test("stays unknown if another process has recorded its start as well", async () => {
    const muted = await unclaimed();
    muted.unmute();
    const decisionId = await idOf(muted);
    await muted.gate.report(decisionId, { status: "started" });
    expect(await muted.ask()).toMatchObject({ reason: "outcome_unknown" });
    expect(muted.paid()).toBe(0);
  });

  test("does not run twice if only its result was not journaled", async () => {
    const muted = await openMuted({ pay: {} });
    let paid = 0;
    const { pay } = muted.gate.guard({ pay: (_: object) => `paid ${++paid}` }, CONTEXT);
    muted.mute(hasStatus("succeeded"));
    const ask = () => pay({}, { callId: CALL.callId });
    await expect(ask()).rejects.toMatchObject({ code: "result_not_recorded" });
    expect(await ask()).toMatchObject(UNANSWERED);
    muted.unmute();
    const answer = await ask();
    expect(isRefused(answer) ? answer.reason : answer).toBe("paid 1");
    expect(paid).toBe(1);
  });
});

describe("a guarded call without an id whose decision came too late", () => {
  /** A call that was made once without an answer. */
  async function undecided() {
    const muted = await openMuted({ pay: {} });
    let paid = 0;
    const { pay } = muted.gate.guard({ pay: (_: object) => `paid ${++paid}` }, CONTEXT);
    muted.mute();
    const refused = await pay({});
    expect(refused).toMatchObject(UNANSWERED);
    return { ...muted, pay, callId: isRefused(refused) ? refused.callId : "", paid: () => paid };
  }

  test("runs when the same call is made once more, as its refusal says", async () => {
    const { pay, unmute, paid } = await undecided();
    unmute();
    await expect.poll(() => pay({})).toBe("paid 1");
    expect(paid()).toBe(1);
  });

  test("does not run after that, and says that its id is used up", async () => {
    const { pay, callId, unmute, paid } = await undecided();
    unmute();
    const message = expect.stringContaining("new call");
    expect(await pay({}, { callId })).toMatchObject({ reason: "gate_unavailable", message });
    expect(paid()).toBe(0);
  });

  test("runs under the id in its refusal, if that is used first", async () => {
    const { gate, pay, callId, unmute, paid } = await undecided();
    const again = pay({}, { callId });
    unmute();
    expect(await again).toBe("paid 1");
    const { decisionId = "" } = await gate.propose({ ...CALL, callId });
    expect((await gate.awaitResult(decisionId)).status).toBe("succeeded");
    expect(paid()).toBe(1);
  });
});

describe("a write that was begun and has no further record", () => {
  test.each([true, false])("is unknown if its run is over (reported: %s)", async (isReported) => {
    const { gate, link, mute } = await openMuted({ pay: {} });
    const pay = (_: object) => {
      vi.spyOn(link.log, "append").mockRejectedValueOnce(FULL);
      return "paid";
    };
    const guarded = gate.guard({ pay }, CONTEXT);
    const ask = () => guarded.pay({}, { callId: CALL.callId });
    await expect(ask()).rejects.toMatchObject({ code: "result_not_recorded" });
    if (!isReported) mute(hasStatus("unknown"));
    expect(await ask()).toMatchObject({ reason: "outcome_unknown" });
    if (isReported) expect((await gate.awaitResult(await idOf({ gate }))).status).toBe("unknown");
  });

  test("is not reported as unknown while a program runs it by hand", async () => {
    const gate = await openGate({ policy: { tool_schemas: { pay: {} } } });
    const decisionId = await idOf({ gate });
    await gate.report(decisionId, { status: "started" });
    const { pay } = gate.guard({ pay: (_: object) => "paid twice" }, CONTEXT);
    const ask = () => pay({}, { callId: CALL.callId });
    expect(await ask()).toMatchObject({ reason: "outcome_unknown" });
    await expect(gate.awaitResult(decisionId, { timeoutMs: 50 })).rejects.toMatchObject({
      code: "timeout",
    });
    await gate.report(decisionId, { status: "succeeded", output: "paid" });
    expect(await gate.awaitResult(decisionId)).toMatchObject({ output: "paid" });
    expect(await ask()).toBe("paid");
  });
});
