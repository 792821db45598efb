// Guarded calls that are made again under their id, by how they ended.
import { describe, expect, test } from "vitest";
import type { CallReport } from "../../../services/executor/call-report.ts";
import { type Callgate, isRefused } from "../../../services/sdk/callgate.ts";
import { openGate } from "../../support/open-gate.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };
const CALL = { ...CONTEXT, callId: "call-7", tool: "charge_card", arguments: { order: "7" } };

type Told =
  | { readonly reason: string }
  | { readonly thrown: unknown }
  | { readonly value: unknown };

/** What the guarded call gives under the id of a call that somebody else has run and reported. */
async function again(gate: Callgate): Promise<Told> {
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

async function reported(report: CallReport): Promise<Told> {
  const gate = await openGate();
  const { decisionId = "" } = await gate.propose(CALL);
  expect(await gate.report(decisionId, report)).toMatchObject({ recorded: true });
  return again(gate);
}

describe("a guarded call that is made again under its id", () => {
  test.each<[string, CallReport, Told]>([
    [
      "gives the output of one that succeeded",
      { status: "succeeded", output: { paid: 7 } },
      { value: { paid: 7 } },
    ],
    ["gives nothing where there was none", { status: "succeeded" }, { value: undefined }],
    [
      "is a duplicate where the output was too long to be kept",
      { status: "succeeded", output: "x".repeat(600_000) },
      { reason: "duplicate_call" },
    ],
    [
      "fails where it was reported failed, whatever output came with that",
      { status: "failed", output: "card declined", error: { message: "declined", code: "402" } },
      { thrown: expect.objectContaining({ message: "declined", code: "402" }) },
    ],
    [
      "fails where what was returned reads as a failure and was too long to be kept",
      { status: "succeeded", output: { error: "declined", status: 402, pad: "x".repeat(600_000) } },
      { thrown: expect.any(Error) },
    ],
    [
      "was not executed where that was reported",
      { status: "not_executed", error: { message: "too late" } },
      { reason: "gate_unavailable" },
    ],
    [
      "is of unknown outcome where that is all that was told",
      { status: "unknown", error: { message: "timed out" } },
      { reason: "outcome_unknown" },
    ],
  ])("%s", async (_what, report, told) => {
    expect(await reported(report)).toEqual(told);
  });
});
