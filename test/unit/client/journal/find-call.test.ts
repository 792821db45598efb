// Requests about calls that a client does not have in memory: it begins with no decisions of the
// past.
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../services/adapters/system/clock.ts";
import type { Callgate } from "../../../../services/client/api/callgate.ts";
import { composeCallgate } from "../../../../services/client/compose-callgate.ts";
import { GateClient } from "../../../../services/client/gate-client.ts";
import { linkToRemote } from "../../../../services/client/remote-link.ts";
import { linkToEmbedded } from "../../../../services/library/embedded-link.ts";
import { type Embedded, openEmbedded } from "../../../../services/library/open-embedded.ts";
import type { AvroCodec } from "../../../../services/wire/codec.ts";

const POLICY = {
  tool_schemas: { pay: {}, look: { read_only: true }, wire: {} },
  authorization: {
    tiers: [
      { name: "asked", pattern: "wire", action: "hitl" },
      { name: "rest", pattern: "*", action: "allowlist" },
    ],
  },
};
const CALL = { conversationId: "c1", turn: 1, callId: "a", tool: "pay", arguments: {} };
const NOBODYS = "0".repeat(32);

type Where = "here" | "elsewhere";

/** A gate, and clients of it that have received nothing so far. */
class Gate {
  readonly #embedded: Embedded;
  /** Number of journal records that clients of `elsewhere` and `here` have decoded. */
  decoded = 0;
  /** Called once, when the next record of the journal is decoded. */
  meanwhile: (() => Promise<unknown>) | undefined;
  #under: Promise<unknown> | undefined;

  constructor(embedded: Embedded) {
    this.#embedded = embedded;
  }

  client(where: Where): Callgate {
    const { log } = this.#embedded;
    const codec: AvroCodec = {
      ...this.#embedded.codec,
      // Whoever decodes waits until that is done, so it happens during a search.
      pending: () => {
        this.#under = this.meanwhile?.() ?? this.#under;
        this.meanwhile = undefined;
        return this.#under?.then(() => undefined) ?? null;
      },
      decodeJournal: (value) => {
        this.decoded += 1;
        return this.#embedded.codec.decodeJournal(value);
      },
    };
    const link =
      where === "here"
        ? { ...linkToEmbedded(this.#embedded), log, codec, close: async () => undefined }
        : linkToRemote({
            log,
            codec,
            clock: systemClock,
            secrets: new Map(),
            close: noop,
            abandon: () => undefined,
          });
    const client = new GateClient(link, { timeoutMs: 5_000, onLost: undefined });
    const callgate = composeCallgate(link, client);
    onTestFinished(() => callgate.close());
    return callgate;
  }
}

async function noop(): Promise<void> {
  // The test that opened the gate has closed it.
}

async function openGate(): Promise<Gate> {
  const embedded = await openEmbedded({ policy: { document: POLICY }, dataDir: false });
  onTestFinished(() => embedded.close());
  return new Gate(embedded);
}

async function look(gate: Callgate, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    await gate.propose({ ...CALL, tool: "look", callId: `look ${at}`, arguments: { at } });
  }
}

test.each(["here", "elsewhere"] as const)(
  "searches for an old call only once, for every kind of request (%s)",
  async (where) => {
    const gate = await openGate();
    const first = gate.client("here");
    const { decisionId = "" } = await first.propose(CALL);
    await first.report(decisionId, { status: "succeeded", output: "paid" });
    await look(first, 20);
    const asked: readonly ((client: Callgate) => Promise<unknown>)[] = [
      (client) => client.awaitResult(decisionId),
      (client) => client.previousResult(decisionId),
      (client) => client.report(NOBODYS, { status: "failed" }),
      (client) => client.previousResult(NOBODYS).catch(() => undefined),
      (client) => client.approve(NOBODYS, { by: "ann" }).catch(() => undefined),
    ];
    for (const ask of asked) {
      gate.decoded = 0;
      await ask(gate.client(where));
      // Each of the 22 records, and those whose position an answer includes.
      expect(gate.decoded).toBeLessThanOrEqual(24);
    }
  },
);

test("does not search for an impossible id, and answers as for a missing one", async () => {
  const gate = await openGate();
  await look(gate.client("here"), 3);
  const client = gate.client("here");
  gate.decoded = 0;
  for (const id of ["", "nope", NOBODYS.slice(1), `${NOBODYS}0`, "A".repeat(32), undefined, 5]) {
    const invalidId = id as string;
    const unknown = { recorded: false, why: "unknown_call" };
    expect(await client.report(invalidId, { status: "failed" })).toEqual(unknown);
    const decision = { code: "unknown_decision" };
    await expect(client.awaitDecision(invalidId)).rejects.toMatchObject(decision);
    await expect(client.awaitResult(invalidId)).rejects.toMatchObject(decision);
    await expect(client.previousResult(invalidId)).rejects.toMatchObject(decision);
    const approval = { code: "unknown_approval" };
    await expect(client.approve(invalidId, { by: "ann" })).rejects.toMatchObject(approval);
  }
  expect(gate.decoded).toBe(0);
});

test.each(["here", "elsewhere"] as const)(
  "does not miss a decision that comes during the search (%s)",
  async (where) => {
    const gate = await openGate();
    const person = gate.client("here");
    const held = await person.propose({ ...CALL, tool: "wire" });
    const { decisionId = "", approvalId = "" } = held;
    await look(person, 3);
    const client = gate.client(where);
    gate.meanwhile = async () => {
      await person.approve(approvalId, { by: "ann" });
      await person.report(decisionId, { status: "succeeded", output: "sent" });
    };
    expect(await client.awaitResult(decisionId)).toMatchObject({ output: "sent" });
    expect((await client.awaitDecision(decisionId)).outcome).toBe("allowed");
  },
);

test.each(["here", "elsewhere"] as const)(
  "accepts one end of an old unknown call, however many report it (%s)",
  async (where) => {
    const gate = await openGate();
    const first = gate.client("here");
    const { decisionId = "" } = await first.propose(CALL);
    await first.report(decisionId, { status: "unknown" });
    await look(first, 3);
    const client = gate.client(where);
    const tell = () => client.report(decisionId, { status: "succeeded", output: "paid" });
    const outcomes = await Promise.all([tell(), tell(), tell()]);
    const late = { recorded: false, why: "already_reported" };
    expect(outcomes).toEqual([{ recorded: true, status: "succeeded" }, late, late]);
    expect(await client.awaitResult(decisionId)).toMatchObject({ status: "succeeded" });
  },
);

test("stops a search with the wait that it serves", async () => {
  const gate = await openGate();
  await look(gate.client("here"), 3);
  const never = new Promise<void>(() => undefined);
  const client = gate.client("here");
  gate.meanwhile = () => never;
  const timeout = client.awaitDecision(NOBODYS, { timeoutMs: 20 });
  await expect(timeout).rejects.toMatchObject({ code: "timeout" });
  const controller = new AbortController();
  const aborted = client.awaitResult(NOBODYS, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
});

test("limits the reading of a remembered call by the wait, too", async () => {
  const gate = await openGate();
  const client = gate.client("here");
  const { decisionId = "" } = await client.propose(CALL);
  await client.report(decisionId, { status: "succeeded", output: "paid" });
  gate.meanwhile = () => new Promise<void>(() => undefined);
  const timeout = { code: "timeout" };
  const wait = { timeoutMs: 20 };
  await expect(client.awaitDecision(decisionId, wait)).rejects.toMatchObject(timeout);
  await expect(client.awaitResult(decisionId, wait)).rejects.toMatchObject(timeout);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(client.awaitResult(decisionId, { signal })).rejects.toThrow("enough");
});

test("stops a running search when the gate is closed", async () => {
  const gate = await openGate();
  await look(gate.client("here"), 3);
  const client = gate.client("here");
  gate.meanwhile = () => client.close();
  const report = client.report(NOBODYS, { status: "failed" });
  await expect(report).rejects.toMatchObject({ code: "closed" });
});
