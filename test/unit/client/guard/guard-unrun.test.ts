// Guarded calls without an id that certainly did not run: whatever the cause, they are reported as
// not executed.
import { describe, expect, test, vi } from "vitest";
import type { GateLink } from "../../../../services/client/gate-link.ts";
import { isRefused } from "../../../../services/library/callgate.ts";
import { RetryableError } from "../../../../services/runtime/errors.ts";
import type { Log } from "../../../../services/runtime/ports.ts";
import { openMuted } from "../../../support/muted-gate.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };
const TIMES = { start_within_ms: 50, time_limit_ms: 50 };
const FULL = new RetryableError("log_full", "the disk is full");

async function guarded() {
  const { gate, link } = await openMuted({ pay: TIMES }, 2_000);
  const decisions: string[] = [];
  link.onCommitted((records) => {
    for (const { record } of records) {
      for (const event of record.events) {
        if (event.type === "allowed") decisions.push(event.decisionId);
      }
    }
  });
  let paid = 0;
  const { pay } = gate.guard({ pay: (_: object) => `paid ${++paid}` }, CONTEXT);
  const status = async () => (await gate.awaitResult(decisions[0] ?? "")).status;
  return { gate, link, pay, paid: () => paid, status };
}

test("a call whose decision came before its append failed is not executed", async () => {
  const { link, pay, paid, status } = await guarded();
  const append = link.log.append.bind(link.log);
  vi.spyOn(link.log, "append").mockImplementationOnce(async (records) => {
    await append(records);
    await new Promise((resolve) => setTimeout(resolve, 30));
    throw new RetryableError("outcome_unknown", "no answer");
  });
  expect(await pay({})).toMatchObject({ reason: "gate_unavailable" });
  await expect.poll(status).toBe("not_executed");
  expect(await pay({})).toBe("paid 1");
  expect(paid()).toBe(1);
});

test.each([undefined, "call-7"])(
  "the report of a given-up call is sent once more if it failed (id: %s)",
  async (callId) => {
    const { link, pay, paid, status } = await guarded();
    const append = link.log.append.bind(link.log);
    const caller = new AbortController();
    let reports = 0;
    vi.spyOn(link.log, "append").mockImplementation(async (records) => {
      const isReport = records.some(({ topic }) => topic === "results");
      if (isReport) reports += 1;
      // With an id, the claim is the first report.
      if (isReport && reports === (callId === undefined ? 1 : 2)) throw FULL;
      const appended = await append(records);
      caller.abort(new Error("given up"));
      return appended;
    });
    const options = { signal: caller.signal, ...(callId !== undefined && { callId }) };
    await expect(pay({}, options)).rejects.toThrow("given up");
    await expect.poll(status).toBe("not_executed");
    expect(paid()).toBe(0);
  },
);

/** Makes the next reports to the gate fail; the test says how many. */
function failReports(link: GateLink, fails: (report: number) => boolean): void {
  const append: Log["append"] = link.log.append.bind(link.log);
  let reports = 0;
  vi.spyOn(link.log, "append").mockImplementation(async (records) => {
    if (records.some(({ topic }) => topic === "results") && fails(++reports)) throw FULL;
    return append(records);
  });
}

const gaveUp = (): AbortSignal => AbortSignal.abort(new Error("given up"));

/** How the call ended, once no more reports arrive. */
async function settled(status: () => Promise<string>): Promise<string> {
  await status();
  await new Promise((resolve) => setTimeout(resolve, 150));
  return status();
}

test("a held call whose caller stopped waiting is not executed once it is approved", async () => {
  const { gate, link } = await openMuted({ wire: TIMES }, 2_000, {
    authorization: { tiers: [{ name: "asked", pattern: "wire", action: "hitl" }] },
  });
  const held: { approvalId: string; decisionId: string }[] = [];
  link.onCommitted((records) => {
    for (const { record } of records) {
      for (const event of record.events) {
        if (event.type !== "held") continue;
        held.push({ approvalId: event.holdId, decisionId: event.decisionId });
      }
    }
  });
  let wired = 0;
  const { wire } = gate.guard({ wire: (_: object) => `wired ${++wired}` }, CONTEXT);
  const caller = new AbortController();
  const asked = wire({}, { onHeld: "wait", signal: caller.signal }).catch(
    (error: unknown) => error,
  );
  await expect.poll(() => held.length).toBe(1);
  caller.abort(new Error("given up"));
  expect(String(await asked)).toContain("given up");
  const [{ approvalId, decisionId } = { approvalId: "", decisionId: "" }] = held;
  await gate.approve(approvalId, { by: "ann" });
  const status = async () => (await gate.awaitResult(decisionId)).status;
  expect(await settled(status)).toBe("not_executed");
  expect(wired).toBe(0);
});

test("a call that was never sent says why, and may be proposed by hand", async () => {
  const { gate, link, pay } = await guarded();
  vi.spyOn(link, "whyUnavailable").mockReturnValueOnce("restoring");
  const refused = await pay({});
  expect(refused).toMatchObject({ reason: "gate_unavailable", detail: "restoring" });
  const callId = isRefused(refused) ? refused.callId : "";
  const call = { ...CONTEXT, callId, tool: "pay", arguments: {} };
  const { decisionId = "" } = await gate.propose(call);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const outcome = await gate.report(decisionId, { status: "succeeded", output: "paid" });
  expect(outcome).toMatchObject({ recorded: true });
});

describe("a call that was decided too late, and whose report failed", () => {
  async function untold() {
    const times = { start_within_ms: 500, time_limit_ms: 50 };
    const { gate, link, mute, unmute } = await openMuted({ pay: times });
    const { pay } = gate.guard({ pay: () => "paid" }, CONTEXT);
    mute();
    const refused = await pay({});
    failReports(link, (report) => report === 1);
    const append = vi.mocked(link.log.append);
    unmute();
    await expect.poll(() => append.mock.calls.length).toBeGreaterThan(0);
    const callId = isRefused(refused) ? refused.callId : "";
    const call = { ...CONTEXT, callId, tool: "pay", arguments: {} };
    const { decisionId = "" } = await gate.propose(call);
    return { gate, decisionId, status: async () => (await gate.awaitResult(decisionId)).status };
  }

  test("is reported once more when the gate gives it up", async () => {
    const { status } = await untold();
    expect(await settled(status)).toBe("not_executed");
  });

  test("is not reported if somebody has begun it in the meantime", async () => {
    const { gate, decisionId, status } = await untold();
    await gate.report(decisionId, { status: "started" });
    expect(await settled(status)).toBe("unknown");
  });
});

describe("a read that was given up, and whose report failed", () => {
  async function setUpRead(failed: number) {
    const times = { read_only: true, start_within_ms: 400, time_limit_ms: 50 };
    const { gate, link } = await openMuted({ look: times }, 2_000);
    let looks = 0;
    const { look } = gate.guard({ look: (_: object) => `look ${++looks}` }, CONTEXT);
    const ids: { callId: string; decisionId: string }[] = [];
    link.onCommitted((records) => {
      for (const { record } of records) {
        for (const event of record.events)
          if (event.type !== "allowed") continue;
          else ids.push({ callId: event.call.callId, decisionId: event.decisionId });
      }
    });
    failReports(link, (report) => report <= failed);
    const status = async () => (await gate.awaitResult(ids[0]?.decisionId ?? "")).status;
    return { look, status, looks: () => looks, callId: () => ids[0]?.callId ?? "" };
  }

  test("is not executed if nobody ran it", async () => {
    const { look, status } = await setUpRead(1);
    await expect(look({}, { signal: gaveUp() })).rejects.toThrow("given up");
    expect(await settled(status)).toBe("not_executed");
  });

  test("is unknown if it ran later under its id", async () => {
    const { look, status, looks, callId } = await setUpRead(2);
    await expect(look({}, { signal: gaveUp() })).rejects.toThrow("given up");
    await expect(look({}, { callId: callId() })).rejects.toMatchObject({
      code: "result_not_recorded",
    });
    expect(looks()).toBe(1);
    expect(await settled(status)).toBe("unknown");
  });

  test("is unknown if others have its id", async () => {
    const { look, status } = await setUpRead(1);
    const asked = look({}, { signal: gaveUp(), callId: "call-7" });
    await expect(asked).rejects.toThrow("given up");
    expect(await settled(status)).toBe("unknown");
  });
});

test("a call of another secret is reported once more if the first report failed", async () => {
  const { link, pay, paid, status } = await guarded();
  vi.spyOn(link, "keyOf").mockReturnValue(undefined);
  failReports(link, (report) => report === 1);
  const message = expect.stringContaining("does not have the secret");
  expect(await pay({})).toMatchObject({ reason: "gate_unavailable", message });
  expect(await settled(status)).toBe("not_executed");
  expect(paid()).toBe(0);
});

test("a call that already runs under its id is not reported if its first caller gets no answer", async () => {
  const { gate, link } = await openMuted({ pay: {} }, 2_000);
  let end: () => void = () => undefined;
  const running = new Promise<void>((resolve) => {
    end = resolve;
  });
  const pay = async (_: object): Promise<string> => {
    await running;
    return "paid";
  };
  const tools = gate.guard({ pay }, CONTEXT);
  const again: Promise<unknown>[] = [];
  link.onCommitted((records) => {
    for (const { record } of records) {
      for (const event of record.events) {
        if (event.type === "allowed") again.push(tools.pay({}, { callId: event.call.callId }));
      }
    }
  });
  const append = link.log.append.bind(link.log);
  vi.spyOn(link.log, "append").mockImplementationOnce(async (records) => {
    await append(records);
    await new Promise((resolve) => setTimeout(resolve, 80));
    throw new RetryableError("outcome_unknown", "no answer");
  });
  expect(await tools.pay({})).toMatchObject({ reason: "gate_unavailable" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  end();
  expect(await Promise.all(again)).toEqual(["paid"]);
});
