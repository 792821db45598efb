// Guarded calls without an id that surely did not run: whatever kept them from it, they are told to be not executed.
import { expect, test, vi } from "vitest";
import { RetryableError } from "../../../services/runtime/errors.ts";
import { openMuted } from "../../support/muted-gate.ts";

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
  "a call that was given up is told once more where it could not be told (id: %s)",
  async (callId) => {
    const { link, pay, paid, status } = await guarded();
    const append = link.log.append.bind(link.log);
    const caller = new AbortController();
    let reports = 0;
    vi.spyOn(link.log, "append").mockImplementation(async (records) => {
      const isReport = records.some(({ topic }) => topic === "results");
      if (isReport) reports += 1;
      // Under an id the claim is the first.
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
