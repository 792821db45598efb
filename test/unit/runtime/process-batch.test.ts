import { describe, expect, it } from "vitest";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { chainHash } from "../../../services/core/hash.ts";
import type { GateInput } from "../../../services/core/inputs.ts";
import { commitBatch } from "../../../services/runtime/commit-batch.ts";
import { coreFold, createCoreEngine } from "../../../services/runtime/core-engine.ts";
import { FatalError } from "../../../services/runtime/errors.ts";
import { GENESIS_HASH } from "../../../services/runtime/journal.ts";
import { PartitionState } from "../../../services/runtime/partition-state.ts";
import { partitionOf } from "../../../services/runtime/partitioner.ts";
import type { Codec, RecordHeader } from "../../../services/runtime/ports.ts";
import {
  BatchBuilder,
  type BatchContext,
  type FetchedInput,
} from "../../../services/runtime/process-batch.ts";
import type { InputTopic } from "../../../services/runtime/topics.ts";
import { compiled } from "../../support/core/compile.ts";
import {
  createTestLogger,
  type LoggedLine,
  noMetrics,
  RuntimeKit,
} from "../../support/runtime-kit.ts";
import { createEngine, createEngines, HOLD_MS } from "../../support/simulation/engines.ts";
import { encodeJson, jsonCodec, UNWRITABLE } from "../../support/simulation/json-codec.ts";

const kit = new RuntimeKit();
const [engine] = createEngines();
const LIMITS = { inputsMax: 100, bytesMax: 1_000_000 };
const KEY = "t/c";

function contextWith(overrides: Partial<BatchContext> = {}): BatchContext {
  return {
    partition: 0,
    partitions: 1,
    hashEvery: 1_000,
    keepsRecords: true,
    engine,
    codec: jsonCodec,
    logger: createTestLogger([]),
    metrics: noMetrics,
    ...{ eventSource: null, anchor: null },
    ...overrides,
  };
}

function fetched(
  input: GateInput | string | null,
  options: {
    readonly offset?: number;
    readonly atMs?: number;
    readonly topic?: InputTopic;
    readonly key?: string | null;
    readonly headers?: readonly RecordHeader[];
  } = {},
): FetchedInput {
  const { offset = 0, atMs = 1_000, topic = "proposals", key = KEY, headers = [] } = options;
  const bytes = typeof input === "string" ? Buffer.from(input) : encodeJson(input);
  return {
    topic,
    record: {
      offset,
      appendTimeMs: atMs,
      key: key === null ? null : Buffer.from(key),
      value: input === null ? null : bytes,
      headers,
    },
  };
}

function batchOf(inputs: readonly FetchedInput[], overrides?: Partial<BatchContext>) {
  const state = new PartitionState(coreFold);
  const builder = new BatchBuilder(contextWith(overrides), state);
  for (const input of inputs) builder.add(input);
  const batch = builder.build();
  return { state, builder, batch, journal: batch.journal.map(({ record }) => record) };
}

describe("a batch", () => {
  it("changes the state equally where nobody listens to its records, and keeps none of them then", async () => {
    const inputs = [fetched(kit.proposal(), { offset: 4 }), fetched(kit.proposal(), { offset: 5 })];
    const outcomes = [true, false].map(async (keepsRecords) => {
      const { batch, state } = batchOf(inputs, { keepsRecords });
      const log = new MemoryLog({ partitions: 1, clusterId: "one", nowMs: () => 7 });
      const outcome = await commitBatch(await log.takeOver(0), state, batch);
      const { progress, journalOffset, journalTimeMs, size } = state;
      const recordCount = outcome.type === "committed" ? outcome.records.length : -1;
      const { journaled, decisions } = batch;
      return {
        recordCount,
        progress,
        journalOffset,
        journalTimeMs,
        size,
        journaled,
        decisions,
      };
    });
    const [retained, left] = await Promise.all(outcomes);
    expect(retained).toMatchObject({
      recordCount: 2,
      journalOffset: 2,
      size: 1,
      journaled: 2,
      decisions: 2,
    });
    expect(left).toEqual({ ...retained, recordCount: 0 });
  });

  it("gives one journal record for each input, chained, with the offsets to read next", () => {
    const { batch, journal, state } = batchOf([
      fetched(kit.proposal(), { offset: 4, atMs: 1_000 }),
      fetched(kit.proposal(), { offset: 5, atMs: 900 }),
    ]);
    expect(batch.inputs).toBe(2);
    expect(journal.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(journal[0]?.prevHash).toBe(GENESIS_HASH);
    const first = batch.records[batch.journal[0]?.index ?? -1]?.value ?? new Uint8Array();
    expect(journal[1]?.prevHash).toBe(chainHash(GENESIS_HASH, first));
    expect(journal[1]?.next).toEqual({ proposals: 6, results: 0, verdicts: 0 });
    expect(journal.map(({ clocks }) => clocks.proposals)).toEqual([1_000, 1_000]);
    expect(journal.map(({ previousAtMs }) => previousAtMs)).toEqual([0, 1_000]);
    expect(journal[0]?.policyRevision).toBe("sha256:first");
    expect(state.progress.seq).toBe(0);
    expect(state.size).toBe(0);
  });

  it("writes a decision to the topic of its outcome, under the conversation's key", () => {
    const { batch } = batchOf([
      fetched(kit.proposal({ tool: "write_order" })),
      fetched(kit.proposal({ tool: "forbidden" })),
      fetched(kit.proposal({ tool: "delete_order" })),
    ]);
    const outputs = batch.records.filter(({ topic }) => topic !== "decisions");
    expect(outputs.map(({ topic }) => topic)).toEqual(["allowed", "refused", "held"]);
    expect(outputs.map(({ key }) => String(key))).toEqual([KEY, KEY, KEY]);
  });

  it("names tenant, conversation, call, outcome and reason in headers", () => {
    const inputs = [
      fetched(kit.proposal({ callId: "a", step: "s" })),
      fetched(kit.proposal({ callId: "a", step: "s", tool: "other" }), { offset: 1 }),
      fetched(kit.proposal({ callId: "c", tool: "delete_order" }), { offset: 2 }),
    ];
    const { batch } = batchOf(inputs);
    const headersOf = batch.records
      .filter(({ topic }) => topic !== "decisions")
      .map(({ headers }) => (headers ?? []).map(({ name, value }) => `${name}=${value}`));
    const own = ["callgate-tenant=t", "callgate-conversation=c"];
    expect(headersOf).toEqual([
      [...own, "callgate-call=a", "callgate-outcome=allowed"],
      [...own, "callgate-call=a", "callgate-outcome=refused", "callgate-reason=call_id_conflict"],
      [...own, "callgate-call=c", "callgate-outcome=held", "callgate-reason=approval_required"],
    ]);
  });

  it("passes on trace headers and no others", () => {
    const headers = [
      { name: "traceparent", value: "00-1" },
      { name: "cookie", value: "secret" },
      { name: "tracestate", value: "a=b" },
    ];
    const { batch } = batchOf([fetched(kit.proposal(), { headers })]);
    const allowed = batch.records.find(({ topic }) => topic === "allowed");
    const passedOn = allowed?.headers?.filter(({ name }) => !name.startsWith("callgate-"));
    expect(passedOn).toEqual([headers[0], headers[2]]);
  });

  it("answers a redelivery with the first decision, and writes nothing else", () => {
    const proposal = kit.proposal();
    const { batch, journal } = batchOf([fetched(proposal), fetched(proposal, { offset: 1 })]);
    expect(journal[1]?.events).toEqual([
      expect.objectContaining({ type: "repeated", decision: journal[0]?.events[0] }),
    ]);
    expect(batch.records.map(({ topic }) => topic)).toEqual(["decisions", "allowed", "decisions"]);
  });

  it("is full at the bytes of one topic, whatever the others have", () => {
    const calls = [fetched(kit.proposal()), fetched(kit.proposal())];
    const { batch, builder } = batchOf(calls);
    const bytesOf = (name: string) =>
      batch.records
        .filter(({ topic }) => topic === name)
        .reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
    const journal = bytesOf("decisions");
    expect(bytesOf("allowed")).toBeGreaterThan(0);
    expect(bytesOf("allowed")).toBeLessThan(journal);
    expect(builder.isFull({ ...LIMITS, bytesMax: journal })).toBe(true);
    expect(builder.isFull({ ...LIMITS, bytesMax: journal + 1 })).toBe(false);
  });

  it("counts headers that are passed on toward the limit", () => {
    const headers = [{ name: "tracestate", value: "x".repeat(5_000) }];
    const withTrace = batchOf([fetched(kit.proposal(), { headers })]).builder;
    const without = batchOf([fetched(kit.proposal())]).builder;
    expect(without.isFull({ ...LIMITS, bytesMax: 5_010 })).toBe(false);
    expect(withTrace.isFull({ ...LIMITS, bytesMax: 5_010 })).toBe(true);
  });

  it("is full at its number of inputs, at its bytes, and at a hash record", () => {
    expect(batchOf([fetched(kit.proposal())]).builder.isFull(LIMITS)).toBe(false);
    expect(batchOf([fetched(kit.proposal())]).builder.isFull({ ...LIMITS, inputsMax: 1 })).toBe(
      true,
    );
    expect(batchOf([fetched(kit.proposal())]).builder.isFull({ ...LIMITS, bytesMax: 10 })).toBe(
      true,
    );
    expect(batchOf([]).builder.isFull({ ...LIMITS, bytesMax: 0 })).toBe(false);
    const hashed = batchOf([fetched(kit.proposal()), fetched(kit.proposal())], { hashEvery: 2 });
    expect(hashed.builder.isFull(LIMITS)).toBe(true);
    expect(hashed.journal.map(({ stateHash }) => stateHash)).toEqual([
      null,
      expect.stringMatching(/^[0-9a-f]{24}$/),
    ]);
  });

  it("has an idle record where there is no input", () => {
    const builder = new BatchBuilder(contextWith(), new PartitionState(coreFold));
    builder.addIdle();
    const { journal, inputs, records } = builder.build();
    expect(journal[0]?.record).toMatchObject({ seq: 1, input: { type: "idle" }, events: [] });
    expect([inputs, records.length]).toEqual([0, 1]);
  });
});

function unreadableInput(): FetchedInput {
  const { topic, record } = fetched(null, { key: null });
  return { topic, record: { ...record, unreadable: "a codec that nobody knows" } };
}

describe("an input that cannot be decided", () => {
  it.each<readonly [string, FetchedInput, string]>([
    ["of broken bytes", fetched("{"), "undecodable"],
    ["without a value", fetched(null), "undecodable"],
    ["of a batch that cannot be read", unreadableInput(), "unreadable"],
    ["that cannot be journaled", fetched(kit.proposal({ tool: UNWRITABLE })), "internal_error"],
  ])("%s goes to the dead letters, and the partition goes on", (_what, input, code) => {
    const { batch, journal } = batchOf([input, fetched(kit.proposal(), { offset: 1 })]);
    expect(journal[0]).toMatchObject({ input: { type: "quarantined", code }, events: [] });
    expect(journal[1]?.events).toHaveLength(1);
    expect(batch.records.map(({ topic }) => topic)).toEqual([
      "decisions",
      "deadLetters",
      "decisions",
      "allowed",
    ]);
  });

  it("is refused and counted where a check throws, and the log names its position", () => {
    const lines: LoggedLine[] = [];
    const counts: string[] = [];
    const killedBy = (): never => {
      throw new Error("a check is broken");
    };
    const broken = createCoreEngine({
      ...compiled({ tool_schemas: { write_order: {} } }),
      killedBy,
    });
    const metrics = { ...noMetrics, count: (name: string) => counts.push(name) };
    const logger = createTestLogger(lines);
    const { batch } = batchOf([fetched(kit.proposal(), { offset: 7 })], {
      ...{ engine: broken, metrics, logger },
    });
    expect(batch.decisions).toBe(1);
    expect(counts).toEqual(["internal_errors"]);
    const message = expect.stringContaining("a check is broken");
    const fields = { topic: "proposals", partition: 0, offset: 7, tool: "write_order", message };
    expect(lines).toMatchObject([{ level: "error", fields }]);
  });

  it("leaves no trace in the state", () => {
    const proposal = kit.proposal({ tool: UNWRITABLE, callId: "same" });
    const { journal } = batchOf([
      fetched(proposal),
      fetched({ ...proposal, tool: "write_order" }, { offset: 1 }),
    ]);
    expect(journal[1]?.events[0]).toMatchObject({ type: "allowed", conversation: { fresh: true } });
  });

  it("has no value in its dead letter where it is too large", () => {
    const builder = new BatchBuilder(contextWith(), new PartitionState(coreFold));
    const input = fetched(kit.proposal());
    builder.quarantine(input, input.record.offset + 1, { code: "too_large", message: "why" });
    const letter = builder.build().records.find(({ topic }) => topic === "deadLetters");
    expect(JSON.parse(String(letter?.value))).toMatchObject({ code: "too_large", value: null });
  });

  it("stops the gate where a secret is missing, and does not become a dead letter", () => {
    const codec: Codec = {
      ...jsonCodec,
      encodeDecision: () => {
        throw new FatalError("secret_missing", "no secret");
      },
    };
    expect(() => batchOf([fetched(kit.proposal())], { codec })).toThrow("no secret");
  });
});

describe("where some tool has sensitive arguments", () => {
  const hiding = createEngine({ tool_schemas: { pay: { sensitive: ["card"] } } }, "sha256:hides");
  const CARD = "4111-2222-3333-4444";

  it.each<readonly [string, GateInput | string, string]>([
    ["cannot be read", `{"card":"${CARD}"`, "undecodable"],
    ["cannot be written", kit.proposal({ tool: UNWRITABLE, arguments: CARD }), "internal_error"],
  ])(
    "a proposal that %s leaves nothing of itself in dead letters and logs",
    (_what, input, code) => {
      const lines: LoggedLine[] = [];
      const logger = createTestLogger(lines);
      const decodeInput: Codec["decodeInput"] = (topic, value) => {
        const decoded = jsonCodec.decodeInput(topic, value);
        return decoded.ok ? decoded : { ok: false, message: `not JSON: ${String(value)}` };
      };
      const encodeJournal: Codec["encodeJournal"] = (record) => {
        if (JSON.stringify(record).includes(UNWRITABLE)) throw new Error(`no ${CARD}`);
        return jsonCodec.encodeJournal(record);
      };
      const codec = { ...jsonCodec, decodeInput, encodeJournal };
      const { batch } = batchOf([fetched(input)], { engine: hiding, codec, logger });
      const letter = batch.records.find(({ topic }) => topic === "deadLetters");
      expect(JSON.parse(String(letter?.value))).toMatchObject({ code, value: null });
      expect(String(letter?.value)).toContain("the topic has it at this offset");
      const all = [...batch.records.map(({ value }) => String(value)), JSON.stringify(lines)];
      expect(all.filter((text) => text.includes(CARD))).toEqual([]);
    },
  );

  it("results and verdicts go to the dead letters unchanged", () => {
    const { batch } = batchOf([fetched("{", { topic: "results" })], { engine: hiding });
    const letter = batch.records.find(({ topic }) => topic === "deadLetters");
    expect(JSON.parse(String(letter?.value)).value).not.toBeNull();
  });

  it("the gate stops where the secret is missing, when it decides and when it seals", () => {
    const proposal = kit.proposal({ tool: "pay", arguments: `{"card":"${CARD}"}` });
    for (const run of [hiding.seal, hiding.decide]) {
      expect(() => run(undefined, proposal, 1_000)).toThrow(FatalError);
      expect(() => run(undefined, proposal, 1_000)).toThrow(/key id `k1`/);
    }
    expect(() => batchOf([fetched(proposal)], { engine: hiding })).toThrow(/key id `k1`/);
  });

  it("calls of other tools are decided and journaled as before", () => {
    const proposal = kit.proposal({ tool: "other" });
    expect(hiding.seal(undefined, proposal, 1_000)).toBe(proposal);
    const { journal } = batchOf([fetched(proposal)], { engine: hiding });
    expect(journal[0]?.input).toMatchObject({ input: proposal });
  });
});

describe("an input that is not under the key of its conversation", () => {
  it.each<readonly [string, string | null]>([
    ["under another key", "t/other"],
    ["without a key", null],
  ])("is decided on the right partition %s", (_what, key) => {
    const { journal, batch } = batchOf([fetched(kit.proposal(), { key })]);
    expect(journal[0]?.events).toMatchObject([{ type: "allowed" }]);
    expect(batch.records.map((record) => String(record.key))).toEqual([KEY, KEY]);
  });
});

describe("an input on another partition than its conversation's", () => {
  const conversationId = elsewhere();
  const key = `t/${conversationId}`;
  const proposal = kit.proposal({ conversationId });
  const headers = [{ name: "traceparent", value: "00-1-2-3" }];

  it.each<readonly [string, InputTopic, GateInput]>([
    ["proposal", "proposals", proposal],
    ["result", "results", { ...result(), conversationId } as GateInput],
  ])("is forwarded in the commit that journals it: a %s", (_what, topic, input) => {
    const { journal, batch } = batchOf(
      [fetched(input, { topic, key: "t/any", offset: 7, headers })],
      { partitions: 2 },
    );
    expect(journal[0]).toMatchObject({
      input: { type: "forwarded", partition: 1, at: { topic, partition: 0, offset: 7 } },
      events: [],
    });
    const [, forwarded] = batch.records;
    expect(forwarded).toEqual({
      ...{ topic, partition: 1, key, value: encodeJson(input) },
      headers: [...headers, { name: "callgate-forwarded-from", value: `${topic}/0/7` }],
    });
    expect([batch.records.length, batch.forwarded, batch.decisions]).toEqual([2, 1, 0]);
  });

  it("is not forwarded twice", () => {
    const forwarded = [{ name: "callgate-forwarded-from", value: "proposals/1/3" }];
    const { journal, batch } = batchOf(
      [
        fetched(proposal, { key, headers: forwarded }),
        fetched({ ...result(), conversationId } as GateInput, { key, headers: forwarded }),
      ],
      { partitions: 2 },
    );
    expect(journal[0]?.events[0]).toMatchObject({
      type: "refused",
      refusal: { reason: "misrouted" },
    });
    expect(journal[1]?.input).toMatchObject({ type: "quarantined", code: "misrouted" });
    expect(batch.forwarded).toBe(0);
  });
});

describe("a tick", () => {
  it("decides all deadlines before its own time, earliest first, in one record", () => {
    const held = (conversationId: string, atMs: number, offset: number) =>
      fetched(kit.proposal({ conversationId, tool: "delete_order" }), {
        key: `t/${conversationId}`,
        atMs,
        offset,
      });
    const tick = (atMs: number, offset: number) =>
      fetched({ type: "tick" }, { topic: "verdicts", atMs, key: null, offset });
    const { journal } = batchOf([
      held("b", 2_000, 0),
      held("a", 2_000, 1),
      held("z", 1_000, 2),
      held("late", 9_000, 3),
      tick(1_000 + HOLD_MS - 1, 0),
      tick(2_000 + HOLD_MS, 1),
    ]);
    expect(journal[4]?.events).toEqual([]);
    const conversations = journal[5]?.events.map(({ conversationId }) => conversationId);
    // The clock of proposals had not gone back for `z`: its time is that of the input before it.
    expect(conversations).toEqual(["a", "b", "z"]);
    expect(journal[5]?.events.map(({ type }) => type)).toEqual(["refused", "refused", "refused"]);
  });
});

function elsewhere(): string {
  for (let i = 0; ; i += 1) if (partitionOf(`t/c${i}`, 2) === 1) return `c${i}`;
}

function result(): GateInput {
  return {
    type: "result",
    tenantId: "t",
    conversationId: "c",
    callId: "x",
    decisionId: "d",
    status: "succeeded",
    output: null,
    outputDigest: null,
    outputBytes: null,
    error: null,
    durationMs: null,
    cost: null,
  };
}
