import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Callgate,
  CallgateError,
  isRefused,
  type Refused,
} from "../../../../services/library/callgate.ts";
import { openGate } from "../../../support/open-gate.ts";

/** A promise that the test settles. */
function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}

const CONTEXT = { conversationId: "c1", turn: 1 };

function refusedOf(answer: unknown): Refused {
  if (!isRefused(answer)) throw new Error(`not refused: ${JSON.stringify(answer)}`);
  return answer;
}

async function thrownBy(action: Promise<unknown>): Promise<unknown> {
  return action.then(
    (answer) => {
      throw new Error(`nothing was thrown, but: ${JSON.stringify(answer)}`);
    },
    (error: unknown) => error,
  );
}

/** The journal's status of the one call of this tool, as a repeat receives it. */
async function statusOf(gate: Callgate, tool: string, args: object): Promise<string | undefined> {
  const repeat = await gate.propose({ ...CONTEXT, tool, arguments: args });
  return repeat.refusal?.previousCall?.status ?? repeat.outcome;
}

describe("a guarded tool", () => {
  test("runs with the decided arguments, a key and a signal", async () => {
    const gate = await openGate();
    const received: unknown[] = [];
    const tools = gate.guard(
      {
        charge_card: ({ order }: { order: string }, call) => {
          received.push(order, call.idempotencyKey, call.signal.aborted, call.callId);
          return { paid: order };
        },
      },
      CONTEXT,
    );
    const paid = await tools.charge_card({ order: "7" }, { callId: "call-7" });
    expect(paid).toEqual({ paid: "7" });
    expect(received).toEqual(["7", expect.stringMatching(/^[\w-]{43}$/), false, "call-7"]);
  });

  test("fails again without running if it failed before under its id", async () => {
    const gate = await openGate();
    let runs = 0;
    const tools = gate.guard(
      {
        charge_card: (_: { order: string }) => {
          runs += 1;
          throw Object.assign(new Error("card declined"), { code: "declined" });
        },
      },
      CONTEXT,
    );
    const pay = () => thrownBy(tools.charge_card({ order: "7" }, { callId: "call-7" }));
    const first = await pay();
    expect(first).toMatchObject({ message: "card declined" });
    expect(await pay()).toEqual(first);
    expect(runs).toBe(1);
  });

  test("returns a failure-like output again, as before", async () => {
    const gate = await openGate();
    let runs = 0;
    const declined = { error: "card declined", status: 402 };
    const charge = (_: { order: string }) => {
      runs += 1;
      return declined;
    };
    const tools = gate.guard({ charge_card: charge }, CONTEXT);
    const pay = () => tools.charge_card({ order: "7" }, { callId: "call-7" });
    expect(await pay()).toEqual(declined);
    expect(await pay()).toEqual(declined);
    expect(runs).toBe(1);
  });

  test("does not repeat the same write, and says so without throwing", async () => {
    const gate = await openGate();
    let runs = 0;
    const tools = gate.guard({ charge_card: (_: { order: string }) => ++runs }, () => CONTEXT);
    expect(await tools.charge_card({ order: "7" })).toBe(1);
    const refused = refusedOf(await tools.charge_card('{"order":"7"}'));
    expect(refused).toMatchObject({ outcome: "refused", reason: "duplicate_call" });
    expect(refused.refusal.previousResult).toMatchObject({ inline: "1" });
    expect(runs).toBe(1);
  });

  test("returns the earlier output for a read answered from memory", async () => {
    const gate = await openGate();
    const outputs: readonly unknown[] = [
      { id: 1, lines: ["a", { n: null }] },
      "plain text",
      '{"json":"as text"}',
      "5",
      5,
      "",
      null,
      [],
      true,
      '"quoted"',
      "ends with a line feed\n",
      "7\n",
    ];
    let runs = 0;
    const tools = gate.guard(
      {
        get_order: ({ at }: { at: number }) => {
          runs += 1;
          return outputs[at];
        },
      },
      CONTEXT,
      { answers: "bare" },
    );
    for (const [at, output] of outputs.entries()) {
      expect(await tools.get_order({ at })).toEqual(output);
      expect(await tools.get_order({ at })).toEqual(output);
      expect(runs).toBe(at + 1);
    }
  });

  test("repeats a read whose output could not be represented", async () => {
    const gate = await openGate();
    const outputs: readonly unknown[] = [
      new Date(0),
      new Map([[1, 2]]),
      undefined,
      10n,
      Number.NaN,
    ];
    let runs = 0;
    const tools = gate.guard(
      {
        get_order: ({ at }: { at: number }) => {
          runs += 1;
          return outputs[at];
        },
      },
      CONTEXT,
    );
    for (const [at, output] of outputs.entries()) {
      expect(await tools.get_order({ at })).toEqual(output);
      expect(await tools.get_order({ at })).toEqual(output);
      expect(runs).toBe(2 * (at + 1));
    }
  });

  test("reports what its function throws as failed, and throws it", async () => {
    const gate = await openGate();
    const declined = Object.assign(new Error("card declined"), { code: "E402", retryable: false });
    const tools = gate.guard(
      {
        charge_card: (_: { order: string }): string => {
          throw declined;
        },
      },
      CONTEXT,
    );
    for (let failures = 0; failures < 3; failures += 1) {
      expect(await thrownBy(tools.charge_card({ order: "7" }))).toBe(declined);
    }
    const refused = refusedOf(await tools.charge_card({ order: "7" }));
    expect(refused.reason).toBe("failure_streak");
    expect(refused.message).toContain("card declined");
  });

  test("is declared to the policy, which changes the revision", async () => {
    const gate = await openGate();
    const before = gate.policyRevision;
    const unknown = { ...CONTEXT, tool: "send_mail", arguments: {} };
    expect((await gate.propose(unknown)).refusal?.reason).toBe("unknown_tool");
    const tools = gate.guard({ send_mail: () => "sent", get_order: () => "order" }, CONTEXT);
    expect(await tools.send_mail()).toBe("sent");
    expect(gate.policyRevision).not.toBe(before);
    const extended = gate.policyRevision;
    gate.guard({ send_mail: () => "sent", delete_all: () => "known by its tier" }, CONTEXT);
    expect(gate.policyRevision).toBe(extended);
  });

  test("changes nothing if the policy has neither tools nor tiers", async () => {
    const gate = await openGate({ policy: { budgets: { max_tool_calls: 5 } } });
    const before = gate.policyRevision;
    gate.guard({ anything: () => 1 }, CONTEXT);
    expect(gate.policyRevision).toBe(before);
  });

  test("is distinguished from its function's own result, whatever its form", async () => {
    const gate = await openGate();
    const tools = gate.guard({ send_mail: () => ({ refused: true, reason: "mine" }) }, CONTEXT);
    expect(isRefused(await tools.send_mail({ to: "ann" }))).toBe(false);
    const refused = refusedOf(await tools.send_mail({ to: "ann" }));
    const { reason, callId, message } = refused;
    const json = JSON.parse(JSON.stringify(refused));
    expect(json).toEqual({ refused: true, reason, callId, message });
    expect([json, { ...refused }, structuredClone(refused)].map(isRefused)).toEqual([
      true,
      true,
      true,
    ]);
    expect({ ...refused }).toEqual(structuredClone(refused));
  });

  test("throws for errors of the program before anything is proposed", async () => {
    const gate = await openGate();
    expect(() => gate.guard({ näme: () => 1 }, CONTEXT)).toThrow(CallgateError);
    const tools = gate.guard({ charge_card: () => 1 }, { conversationId: "" });
    expect(await thrownBy(tools.charge_card({}))).toMatchObject({ code: "invalid_input" });
  });
});

describe("a guarded tool that needs a person", () => {
  test("returns held, and runs when it is called again under its id after the approval", async () => {
    const gate = await openGate();
    let runs = 0;
    const tools = gate.guard({ delete_order: (_: { id: number }) => ++runs }, CONTEXT);
    const held = refusedOf(await tools.delete_order({ id: 1 }));
    expect(held).toMatchObject({ outcome: "held", reason: "approval_required" });
    const { callId } = held;
    expect(refusedOf(await tools.delete_order({ id: 1 }, { callId })).outcome).toBe("held");
    await gate.approve(held.approvalId ?? "", { by: "ann" });
    expect(await tools.delete_order({ id: 1 }, { callId })).toBe(1);
    expect(await tools.delete_order({ id: 1 }, { callId })).toBe(1);
    expect(runs).toBe(1);
  });

  test('waits for the verdict with `onHeld: "wait"`', async () => {
    const gate = await openGate();
    const context = { ...CONTEXT, onHeld: "wait" } as const;
    const tools = gate.guard({ delete_order: ({ id }: { id: number }) => `${id} gone` }, context);
    const answers = [1, 2].map((id) => tools.delete_order({ id }, { callId: `call-${id}` }));
    const approvalOf = async (id: number) => {
      const call = { ...CONTEXT, callId: `call-${id}`, tool: "delete_order", arguments: { id } };
      return (await gate.propose(call)).approvalId ?? "";
    };
    await gate.approve(await approvalOf(1), { by: "ann" });
    await gate.deny(await approvalOf(2), { by: "ann" });
    expect(await answers[0]).toBe("1 gone");
    expect(refusedOf(await answers[1]).reason).toBe("approval_denied");
  });
});

test("a guarded call whose wait for the verdict ends with the gate is still held", async () => {
  const gate = await openGate();
  const context = { ...CONTEXT, onHeld: "wait" } as const;
  const tools = gate.guard({ delete_order: (_: { id: number }) => "gone" }, context);
  const answer = tools.delete_order({ id: 1 }, { callId: "call-1" });
  const call = { ...CONTEXT, callId: "call-1", tool: "delete_order", arguments: { id: 1 } };
  const { approvalId, decisionId } = await gate.propose(call);
  await gate.close();
  const outcome = "held";
  expect(refusedOf(await answer)).toMatchObject({ outcome, approvalId, decisionId });
});

describe("a guarded call that is given up", () => {
  test("is not executed if it had not started", async () => {
    const gate = await openGate();
    let runs = 0;
    const tools = gate.guard({ charge_card: (_: { order: string }) => ++runs }, CONTEXT);
    const signal = AbortSignal.abort(new Error("changed my mind"));
    const error = await thrownBy(tools.charge_card({ order: "7" }, { signal }));
    expect(String(error)).toContain("changed my mind");
    expect(await tools.charge_card({ order: "7" })).toBe(1);
  });

  test("is unknown if it had started, until it succeeds after all", async () => {
    const gate = await openGate();
    const controller = new AbortController();
    const finished = deferred<string>();
    const tools = gate.guard(
      {
        charge_card: (_: { order: string }) => {
          controller.abort(new Error("too slow"));
          return finished.promise;
        },
      },
      CONTEXT,
    );
    const { signal } = controller;
    const error = await thrownBy(tools.charge_card({ order: "7" }, { signal }));
    expect(String(error)).toContain("too slow");
    expect(refusedOf(await tools.charge_card({ order: "7" })).reason).toBe("outcome_unknown");
    finished.resolve("paid after all");
    await expect.poll(() => statusOf(gate, "charge_card", { order: "7" })).toBe("succeeded");
  });

  test("is unknown at the policy's time limit", async () => {
    const policy = { tool_schemas: { slow: { time_limit_ms: 20 } } };
    const gate = await openGate({ policy });
    const tools = gate.guard(
      {
        slow: (_args: object, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          }),
      },
      CONTEXT,
    );
    expect(await thrownBy(tools.slow({}))).toMatchObject({ code: "time_limit" });
    expect(refusedOf(await tools.slow({})).reason).toBe("outcome_unknown");
  });
});

describe("a guarded call that is made twice at once", () => {
  /** Under one id, each with a signal of its own. */
  async function twice(tool: "charge_card" | "get_order") {
    const gate = await openGate();
    const finished = deferred<string>();
    const started = deferred<AbortSignal>();
    const handler = (_: { order: string }, { signal }: { signal: AbortSignal }) => {
      started.resolve(signal);
      return finished.promise;
    };
    const tools = gate.guard({ charge_card: handler, get_order: handler }, CONTEXT);
    const ask = () => {
      const controller = new AbortController();
      const options = { callId: "call-7", signal: controller.signal };
      return { controller, answer: tools[tool]({ order: "7" }, options) };
    };
    const [first, second] = [ask(), ask()];
    const running = await started.promise;
    // Both wait for the run by now.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { first, second, running, finish: finished.resolve, ask };
  }

  test.each(["charge_card", "get_order"] as const)(
    "continues for one caller when the other gives up (%s)",
    async (tool) => {
      const { first, second, running, finish } = await twice(tool);
      first.controller.abort(new Error("the first gave up"));
      expect(String(await thrownBy(first.answer))).toContain("the first gave up");
      expect(running.aborted).toBe(false);
      finish("done");
      expect(await second.answer).toBe("done");
    },
  );

  test("is given up when both callers have, each for its own reason", async () => {
    const { first, second, running, ask } = await twice("charge_card");
    second.controller.abort(new Error("the second gave up"));
    expect(String(await thrownBy(second.answer))).toContain("the second gave up");
    first.controller.abort(new Error("the first gave up"));
    const late = ask();
    expect(String(await thrownBy(first.answer))).toContain("the first gave up");
    expect(running.aborted).toBe(true);
    expect(refusedOf(await late.answer).reason).toBe("outcome_unknown");
  });
});

test("many guarded calls that share a signal leak no listeners", async () => {
  const gate = await openGate();
  const warnings: string[] = [];
  const warned = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { signal } = new AbortController();
  const sleep = () => new Promise((resolve) => setTimeout(resolve, 50));
  const { get_order } = gate.guard({ get_order: (_: object) => sleep() }, { ...CONTEXT, signal });
  await Promise.all(Array.from({ length: 30 }, (_, order) => get_order({ order })));
  expect(warnings).toEqual([]);
});

describe("guarded tools of a closed gate", () => {
  test("are refused and do not run", async () => {
    const gate = await openGate();
    let runs = 0;
    const tools = gate.guard({ send_mail: () => ++runs }, CONTEXT);
    await gate.close();
    const refused = refusedOf(await tools.send_mail());
    expect(refused).toMatchObject({ reason: "gate_unavailable", detail: "closed" });
    expect(runs).toBe(0);
  });

  test("are awaited and reported before the gate closes, if they run", async () => {
    const gate = await openGate();
    const finished = deferred<string>();
    const started = deferred<void>();
    const tools = gate.guard(
      {
        send_mail: () => {
          started.resolve();
          return finished.promise;
        },
      },
      CONTEXT,
    );
    const answer = tools.send_mail();
    await started.promise;
    const closed = gate.close();
    finished.resolve("paid");
    await closed;
    expect(await answer).toBe("paid");
  });
});
