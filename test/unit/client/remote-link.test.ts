// A client outside the gate's process: it sees only the log.
import { describe, expect, onTestFinished, test } from "vitest";
import { secretFrom } from "../../../services/adapters/config/secret-file.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { CallgateError } from "../../../services/client/api/callgate-error.ts";
import { composeCallgate } from "../../../services/client/compose-callgate.ts";
import { GateClient } from "../../../services/client/gate-client.ts";
import type { GateLink } from "../../../services/client/gate-link.ts";
import { linkToRemote } from "../../../services/client/remote-link.ts";
import { linkToEmbedded } from "../../../services/library/embedded-link.ts";
import { type Embedded, openEmbedded } from "../../../services/library/open-embedded.ts";
import { FatalError, RetryableError } from "../../../services/runtime/errors.ts";
import type { Log, ReadResult } from "../../../services/runtime/ports.ts";

const POLICY = {
  tool_schemas: { pay: {}, look: { read_only: true }, wire: {}, charge: { read_only: false } },
  authorization: {
    tiers: [
      { name: "asked", pattern: "wire", action: "hitl" },
      { name: "rest", pattern: "*", action: "allowlist" },
    ],
  },
};
const SECRET = "a secret that is long enough";
const CALL = { conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay", arguments: {} };

async function openGate(): Promise<Embedded> {
  const policy = { document: POLICY };
  const embedded = await openEmbedded({ policy, dataDir: false, secret: SECRET });
  onTestFinished(() => embedded.close());
  return embedded;
}

type ConnectOptions = {
  readonly log?: Log;
  readonly timeoutMs?: number;
  readonly onLost?: () => void;
  readonly close?: () => Promise<void>;
  readonly secrets?: ReadonlyMap<string, Uint8Array>;
};

function connect({ log, codec }: Embedded, options: ConnectOptions = {}) {
  const lost: CallgateError[] = [];
  const closed: string[] = [];
  const link = linkToRemote({
    ...{ log: options.log ?? log, codec, clock: systemClock },
    secrets: options.secrets ?? new Map(),
    close: async () => {
      closed.push("log");
      await options.close?.();
    },
    abandon: () => void closed.push("abandoned"),
  });
  const onLost = (error: CallgateError): void => {
    lost.push(error);
    options.onLost?.();
  };
  const client = new GateClient(link, { timeoutMs: options.timeoutMs ?? 5_000, onLost });
  const callgate = composeCallgate(link, client);
  onTestFinished(() => callgate.close());
  return { callgate, link, lost, closed };
}

/** The log, whose next reads or appends may fail. */
class FailingLog {
  readonly reads: Error[] = [];
  readonly appends: Error[] = [];
  readonly log: Log;

  constructor(log: Log) {
    const read: Log["read"] = async (...args): Promise<ReadResult> => {
      const error = this.reads.shift();
      if (error !== undefined) throw error;
      return log.read(...args);
    };
    const append: Log["append"] = async (records) => {
      const error = this.appends.shift();
      if (error !== undefined) throw error;
      return log.append(records);
    };
    this.log = {
      ...{ partitions: log.partitions, clusterId: log.clusterId, read, append },
      topicId: (topic) => log.topicId(topic),
      endOffset: (topic, partition) => log.endOffset(topic, partition),
      startOffset: (topic, partition) => log.startOffset(topic, partition),
      waitForNew: (positions, timeoutMs, signal) => log.waitForNew(positions, timeoutMs, signal),
      close: () => log.close(),
    };
  }
}

const NO_BROKER = new RetryableError("log_unavailable", "no broker answers");

describe("a client of a remote gate", () => {
  test("learns its decisions and the policy revision from the journal", async () => {
    const { callgate } = connect(await openGate());
    expect(callgate.policyRevision).toBe("");
    const decision = await callgate.propose(CALL);
    expect(decision).toMatchObject({ outcome: "allowed", repeated: false });
    // Without the secret there are no keys.
    expect(decision.idempotencyKey).toBeUndefined();
    expect(callgate.policyRevision).toMatch(/^sha256:/);
    const again = await callgate.propose(CALL);
    expect(again).toMatchObject({ repeated: true, decisionId: decision.decisionId });
  });

  test("runs no tools itself without the secret for their keys", async () => {
    const { callgate } = connect(await openGate());
    const guard = () => callgate.guard({ pay: () => "paid" }, { conversationId: "c1" });
    expect(guard).toThrow(
      expect.objectContaining({
        code: "secret_unreadable",
        message: expect.stringContaining("pass `secret`"),
      }),
    );
  });

  test("neither reports nor starts a call that another program has started", async () => {
    const gate = await openGate();
    const secret = secretFrom(SECRET);
    if (!secret.ok) throw new Error("the secret is not one");
    const secrets = new Map([[secret.secret.keyId, secret.secret.bytes]]);
    const runs: string[] = [];
    let end: (value: string) => void = () => undefined;
    const guarded = (name: string) =>
      connect(gate, { secrets }).callgate.guard(
        {
          charge: (_: object) => {
            runs.push(name);
            return new Promise<string>((resolve) => {
              end = resolve;
            });
          },
        },
        { conversationId: "c1", turn: 1 },
      );
    const first = guarded("first").charge({}, { callId: "a" });
    await expect.poll(() => runs).toEqual(["first"]);
    expect(await guarded("second").charge({}, { callId: "a" })).toMatchObject({
      reason: "outcome_unknown",
    });
    const { callgate } = connect(gate);
    const { decisionId = "" } = await callgate.propose({
      ...CALL,
      step: undefined,
      tool: "charge",
    });
    const result = callgate.awaitResult(decisionId);
    end("paid");
    expect(await first).toBe("paid");
    expect(await result).toMatchObject({ status: "succeeded", output: "paid" });
    expect(runs).toEqual(["first"]);
  });

  test("waits for a result that somebody else reports", async () => {
    const gate = await openGate();
    const agent = connect(gate).callgate;
    const executor = connect(gate).callgate;
    const { decisionId = "" } = await agent.propose(CALL);
    const result = agent.awaitResult(decisionId);
    await executor.report(decisionId, { status: "started" });
    await executor.report(decisionId, { status: "succeeded", output: { total: 3 } });
    const expected = { decisionId, status: "succeeded", output: { total: 3 }, whole: true };
    expect(await result).toMatchObject(expected);
    expect(await agent.awaitResult(decisionId)).toMatchObject(expected);
    expect(await connect(gate).callgate.awaitResult(decisionId)).toMatchObject(expected);
  });

  test("waits for the verdict on a held call, and for its result", async () => {
    const gate = await openGate();
    const agent = connect(gate).callgate;
    const person = connect(gate).callgate;
    const held = await agent.propose({ ...CALL, tool: "wire" });
    expect(held.outcome).toBe("held");
    const { decisionId = "", approvalId = "" } = held;
    const decided = agent.awaitDecision(decisionId);
    const result = agent.awaitResult(decisionId);
    await expect(agent.awaitResult(decisionId, { timeoutMs: 20 })).rejects.toMatchObject({
      code: "timeout",
    });
    await person.approve(approvalId, { by: "eve" });
    expect((await decided).outcome).toBe("allowed");
    await person.report(decisionId, { status: "succeeded", output: "sent" });
    expect(await result).toMatchObject({ output: "sent" });
    // Asked late, by a client that saw none of it.
    const late = connect(gate).callgate;
    expect((await late.awaitDecision(decisionId)).outcome).toBe("allowed");
  });

  test("has no result for a refused call, or for one that nobody proposed", async () => {
    const { callgate } = connect(await openGate());
    await callgate.propose(CALL);
    const refused = await callgate.propose({ ...CALL, step: 2, callId: "b" });
    const { decisionId = "" } = refused;
    expect(refused.outcome).toBe("refused");
    const invalid = { code: "invalid_input" };
    await expect(callgate.awaitResult(decisionId)).rejects.toMatchObject(invalid);
    const unknown = { code: "unknown_decision" };
    await expect(callgate.awaitResult("nobody's")).rejects.toMatchObject(unknown);
  });

  test("refuses a call that could not be written or got no answer, and allows asking again", async () => {
    const gate = await openGate();
    const failing = new FailingLog(gate.log);
    const { callgate } = connect(gate, { log: failing.log });
    failing.appends.push(NO_BROKER);
    expect(await callgate.propose(CALL)).toMatchObject({
      outcome: "refused",
      refusal: {
        reason: "gate_unavailable",
        detail: "timeout",
        problem: expect.stringContaining("no broker answers"),
      },
    });
    expect(await callgate.propose(CALL)).toMatchObject({ outcome: "allowed", repeated: false });
  });

  test.each(["append", "endOffset"] as const)(
    "answers a call in its time if the log does not respond (%s)",
    async (hangs) => {
      const gate = await openGate();
      const log = { ...new FailingLog(gate.log).log, [hangs]: () => new Promise(() => undefined) };
      const { callgate } = connect(gate, { log: log as Log, timeoutMs: 50 });
      expect(await callgate.propose(CALL)).toMatchObject({
        outcome: "refused",
        refusal: {
          reason: "gate_unavailable",
          detail: "timeout",
          problem: expect.stringContaining("the log did not answer"),
        },
      });
    },
  );

  test("continues reading from its position when the log is back", async () => {
    const gate = await openGate();
    const failing = new FailingLog(gate.log);
    const { callgate } = connect(gate, { log: failing.log });
    failing.reads.push(NO_BROKER, NO_BROKER);
    expect((await callgate.propose(CALL)).outcome).toBe("allowed");
    expect(failing.reads).toEqual([]);
  });

  test("learns once that the log is lost, and refuses everything from then on", async () => {
    const gate = await openGate();
    const failing = new FailingLog(gate.log);
    const { callgate, lost } = connect(gate, { log: failing.log });
    failing.reads.push(new FatalError("log_mismatch", "the topics were made anew"));
    const first = await callgate.propose(CALL);
    expect(first.refusal).toMatchObject({ reason: "gate_unavailable", detail: "closed" });
    expect(lost).toHaveLength(1);
    const next = await callgate.propose({ ...CALL, callId: "b" });
    expect(next.refusal).toMatchObject({ problem: "the topics were made anew" });
  });

  test("still refuses if the program's listener throws", async () => {
    const gate = await openGate();
    const failing = new FailingLog(gate.log);
    const { callgate, lost } = connect(gate, {
      log: failing.log,
      onLost: () => {
        throw new Error("the program's own");
      },
    });
    failing.reads.push(new FatalError("log_mismatch", "the topics were made anew"));
    expect((await callgate.propose(CALL)).refusal).toMatchObject({ detail: "closed" });
    expect(lost).toHaveLength(1);
    // An uncaught error is raised in the next turn of the event loop, and would fail the test.
    await new Promise((resolve) => setTimeout(resolve, 20));
  });

  test("closes in its time if the log does not respond", async () => {
    const gate = await openGate();
    const { log } = new FailingLog(gate.log);
    const never = (): Promise<never> => new Promise(() => undefined);
    const { callgate, closed } = connect(gate, {
      log: { ...log, append: never },
      timeoutMs: 50,
      close: never,
    });
    const asked = callgate.propose(CALL);
    await callgate.close({ timeoutMs: 20 });
    expect((await asked).refusal).toMatchObject({ reason: "gate_unavailable", detail: "closed" });
    expect(closed).toEqual(["log", "abandoned"]);
  });

  test("waits for a log that closes slowly, and does not abandon it", async () => {
    const close = () => new Promise<void>((resolve) => setTimeout(resolve, 30));
    const { callgate, closed } = connect(await openGate(), { close });
    const fromMs = performance.now();
    await callgate.close({ timeoutMs: 5_000 });
    expect(performance.now() - fromMs).toBeLessThan(4_000);
    expect(closed).toEqual(["log"]);
  });

  test("waits for a gate in its own process, however long that takes", async () => {
    const link = linkToEmbedded(await openGate());
    let isClosed = false;
    const close = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      isClosed = true;
    };
    const slow = Object.assign(Object.create(link) as GateLink, { close });
    const client = new GateClient(slow, { timeoutMs: 5_000, onLost: undefined });
    await composeCallgate(slow, client).close({ timeoutMs: 1 });
    expect(isClosed).toBe(true);
  });

  test("releases its log when it is closed", async () => {
    const { callgate, closed } = connect(await openGate());
    await callgate.propose(CALL);
    await callgate.close();
    expect(closed).toEqual(["log"]);
    const late = await callgate.propose({ ...CALL, callId: "b" });
    expect(late.refusal?.detail).toBe("closed");
  });
});
