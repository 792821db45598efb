// Guarded calls that are repeated under their id, by how they ended.
import { describe, expect, onTestFinished, test } from "vitest";
import type { CallReport } from "../../../../services/client/inputs/report.ts";
import { type Callgate, isRefused } from "../../../../services/library/callgate.ts";
import { openGate } from "../../../support/open-gate.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };
const CALL = { ...CONTEXT, callId: "call-7", tool: "charge_card", arguments: { order: "7" } };
const MINUTE_MS = 60_000;

/**
 * Returns a function that sets the clock forward. A test that waits for real needs short limits,
 * and a busy machine exceeds those before the call starts. Call it before the gate opens, so that
 * the gate closes before the clock is set back.
 */
function makeClockMovable(): (ms: number) => void {
  const realNow = Date.now;
  let aheadMs = 0;
  Date.now = () => realNow() + aheadMs;
  onTestFinished(() => {
    Date.now = realNow;
  });
  return (ms) => {
    aheadMs += ms;
  };
}

type Outcome =
  | { readonly reason: string }
  | { readonly thrown: unknown }
  | { readonly value: unknown };

/**
 * The answer of the guarded call under the id of a call that somebody else has run and reported.
 */
async function again(gate: Callgate): Promise<Outcome> {
  const tools = gate.guard(
    {
      charge_card: (_: { order: string }): unknown => {
        throw new Error("it ran");
      },
    },
    CONTEXT,
  );
  try {
    const answer = await tools.charge_card({ order: "7" }, { callId: CALL.callId });
    return isRefused(answer) ? { reason: answer.reason } : { value: answer };
  } catch (error) {
    return { thrown: error };
  }
}

async function reported(report: CallReport): Promise<Outcome> {
  const gate = await openGate();
  const { decisionId = "" } = await gate.propose(CALL);
  expect(await gate.report(decisionId, report)).toMatchObject({ recorded: true });
  return again(gate);
}

describe("a guarded call repeated under its id", () => {
  test.each<[string, CallReport, Outcome]>([
    [
      "returns the output of a call that succeeded",
      { status: "succeeded", output: { paid: 7 } },
      { value: { paid: 7 } },
    ],
    ["returns undefined if the call had no output", { status: "succeeded" }, { value: undefined }],
    [
      "is a duplicate if the output was too long to store",
      { status: "succeeded", output: "x".repeat(600_000) },
      { reason: "duplicate_call" },
    ],
    [
      "fails if a failure was reported, whatever its output",
      { status: "failed", output: "card declined", error: { message: "declined", code: "402" } },
      { thrown: expect.objectContaining({ message: "declined", code: "402" }) },
    ],
    [
      "returns an output that reads as a failure if a success was reported",
      { status: "succeeded", output: { error: "declined", status: 402 } },
      { value: { error: "declined", status: 402 } },
    ],
    [
      "says that the call did not run if that was reported",
      { status: "not_executed", error: { message: "too late" } },
      { reason: "gate_unavailable" },
    ],
    [
      "has an unknown outcome if that was reported",
      { status: "unknown", error: { message: "timed out" } },
      { reason: "outcome_unknown" },
    ],
  ])("%s", async (_what, report, expected) => {
    expect(await reported(report)).toEqual(expected);
  });

  test.each([
    ["returns what its handler returned in a form of failure", 10, { value: expect.anything() }],
    ["fails if that output was too long to store", 600_000, { thrown: expect.any(Error) }],
  ])("%s", async (_what, length, expected) => {
    const output = { isError: true, content: "x".repeat(length) };
    const gate = await openGate();
    const tools = gate.guard({ charge_card: (_: { order: string }): unknown => output }, CONTEXT);
    const options = { callId: CALL.callId };
    expect(await tools.charge_card({ order: "7" }, options)).toEqual(output);
    expect(await again(gate)).toEqual(expected);
  });
});

describe("a guarded write repeated when it may no longer start", () => {
  /** A gate whose calls must start within a minute, and a card that is charged as the test says. */
  async function late(charge: () => unknown, time: object = {}) {
    const moveClock = makeClockMovable();
    const tools = { charge_card: { start_within_ms: MINUTE_MS, ...time } };
    const gate = await openGate({ policy: { tool_schemas: tools } });
    let charged = 0;
    const guarded = gate.guard(
      {
        charge_card: (_: { order: string }): unknown => {
          charged += 1;
          return charge();
        },
      },
      CONTEXT,
    );
    const ask = (signal?: AbortSignal) =>
      guarded.charge_card({ order: "7" }, { callId: "call-7", ...(signal && { signal }) });
    return { gate, ask, passStart: () => moveClock(MINUTE_MS + 1), charged: () => charged };
  }

  test("returns its first output", async () => {
    const { ask, passStart, charged } = await late(() => ({ paid: 7 }));
    expect(await ask()).toEqual({ paid: 7 });
    passStart();
    expect(await ask()).toEqual({ paid: 7 });
    expect(charged()).toBe(1);
  });

  test("stays unknown if it was given up while it ran, and is not freed by that", async () => {
    const { gate, ask, passStart, charged } = await late(() => new Promise(() => undefined), {
      time_limit_ms: 20,
    });
    await expect(ask()).rejects.toMatchObject({ code: "time_limit" });
    passStart();
    expect(await ask()).toMatchObject({ reason: "outcome_unknown" });
    expect(await ask(AbortSignal.abort())).toMatchObject({ reason: "outcome_unknown" });
    const other = { ...CALL, callId: "call-8" };
    expect((await gate.propose(other)).refusal?.reason).toBe("outcome_unknown");
    expect(charged()).toBe(1);
  });

  test("reports that it was not run and that its id is used up if nobody had started it", async () => {
    const { gate, ask, passStart, charged } = await late(() => "paid");
    await gate.propose(CALL);
    passStart();
    const answer = await ask();
    expect(answer).toMatchObject({
      reason: "gate_unavailable",
      detail: "timeout",
      message: expect.stringContaining("Make it again as a new call"),
    });
    expect(charged()).toBe(0);
  });
});

describe("a guarded write whose turn comes when its outcome counts as unknown", () => {
  const TIMES = { start_within_ms: MINUTE_MS, time_limit_ms: MINUTE_MS };

  /** Proposes the call, and again when its time is over, so that the gate notices. */
  async function giveUp(gate: Callgate, moveClock: (ms: number) => void): Promise<string> {
    const { decisionId = "" } = await gate.propose(CALL);
    moveClock(2 * MINUTE_MS + 1);
    await gate.propose(CALL);
    expect((await gate.awaitResult(decisionId)).status).toBe("unknown");
    return decisionId;
  }

  /**
   * A charge that waits behind another one until the gate has given it up; `meanwhile` gets its
   * decision.
   */
  async function queued(meanwhile: (gate: Callgate, decisionId: string) => Promise<unknown>) {
    const moveClock = makeClockMovable();
    const tools = { charge_card: TIMES, send_mail: { time_limit_ms: 60 * MINUTE_MS } };
    const gate = await openGate({ policy: { tool_schemas: tools } });
    let charged = 0;
    let sent: (what: string) => void = () => undefined;
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const guarded = gate.guard(
      {
        charge_card: (_: { order: string }) => {
          charged += 1;
          return "paid";
        },
        send_mail: () =>
          new Promise<string>((resolve) => {
            sent = resolve;
            begin();
          }),
      },
      CONTEXT,
    );
    const mail = guarded.send_mail();
    const answer = guarded.charge_card({ order: "7" }, { callId: "call-7" });
    await begun;
    const decisionId = await giveUp(gate, moveClock);
    await meanwhile(gate, decisionId);
    sent("sent");
    await mail;
    return { gate, decisionId, answer: await answer, charged: () => charged };
  }

  test("is journaled as not run if nobody has begun it", async () => {
    const { gate, decisionId, answer, charged } = await queued(async () => undefined);
    expect(answer).toMatchObject({
      reason: "gate_unavailable",
      message: expect.stringContaining("Make it again as a new call"),
    });
    expect((await gate.awaitResult(decisionId)).status).toBe("not_executed");
    expect((await gate.propose({ ...CALL, callId: "call-8" })).outcome).toBe("allowed");
    expect(charged()).toBe(0);
  });

  test("stays unknown if anybody has recorded its start", async () => {
    const { gate, decisionId, answer } = await queued((by, id) =>
      by.report(id, { status: "started" }),
    );
    expect(answer).toMatchObject({ reason: "outcome_unknown" });
    expect((await gate.awaitResult(decisionId)).status).toBe("unknown");
  });

  test("stays unknown if it was decided for somebody else, who may have run it unrecorded", async () => {
    const moveClock = makeClockMovable();
    const gate = await openGate({ policy: { tool_schemas: { charge_card: TIMES } } });
    const decisionId = await giveUp(gate, moveClock);
    expect(await again(gate)).toEqual({ reason: "outcome_unknown" });
    expect((await gate.awaitResult(decisionId)).status).toBe("unknown");
    const other = { ...CALL, callId: "call-8" };
    expect((await gate.propose(other)).refusal?.reason).toBe("outcome_unknown");
  });

  test("has the outcome that somebody else reported", async () => {
    const { answer } = await queued((by, id) => by.report(id, { status: "succeeded", output: 7 }));
    expect(answer).toBe(7);
  });
});

test("rejects an invalid signal before it proposes the call", async () => {
  const gate = await openGate();
  const { charge_card } = gate.guard({ charge_card: (_: object) => "paid" }, CONTEXT);
  const signal = new AbortController() as unknown as AbortSignal;
  await expect(charge_card({ order: "7" }, { signal })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("pass its `.signal`"),
  });
});

test("rejects the promise if the context throws", async () => {
  const gate = await openGate();
  const { charge_card } = gate.guard({ charge_card: (_: object) => "paid" }, () => {
    throw new Error("no conversation");
  });
  await expect(charge_card({ order: "7" })).rejects.toThrow("no conversation");
});
