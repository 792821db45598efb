// What agents, executors and approvers do in a run: proposals of all kinds, some of them sent
// twice, results and verdicts for what the topics show, and invalid bytes.
import type {
  GateInput,
  ProposalInput,
  ResultInput,
  VerdictInput,
} from "../../../services/core/inputs.ts";
import { partitionOf } from "../../../services/runtime/partitioner.ts";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";
import { type FakeWorld, RECORD_BYTES_MAX } from "./fake-outside.ts";
import { type DecisionRecord, decodeJson, encodeJson, UNWRITABLE } from "./json-codec.ts";
import type { Random } from "./random.ts";

const TOOLS = ["read_order", "read_order", "write_order", "charge", "delete_order", "delete_order"];
const EVERYTHING = { recordsMax: 100_000, bytesMax: Number.MAX_SAFE_INTEGER };

type Kind = "proposal" | "duplicate" | "result" | "verdict" | "odd";

export class Workload {
  readonly #world: FakeWorld;
  readonly #random: Random;
  readonly #partition: number;
  readonly #conversations: readonly string[];
  readonly #sent: OutgoingRecord[] = [];
  #calls = 0;
  #turn = 1;

  constructor(world: FakeWorld, partition: number, conversations: number) {
    this.#world = world;
    this.#random = world.scheduler.random;
    this.#partition = partition;
    this.#conversations = keysOf(partition, world.topics.partitions, conversations);
  }

  /** Does one thing outside the gate. */
  act(): void {
    const kinds: readonly Kind[] = [
      "proposal",
      "proposal",
      "proposal",
      "duplicate",
      "result",
      "verdict",
    ];
    const kind = this.#random.chance(0.06) ? "odd" : this.#random.pick(kinds);
    if (kind === "proposal") this.#propose({});
    if (kind === "duplicate") this.#repeat();
    if (kind === "result") this.#report();
    if (kind === "verdict") this.#answer();
    if (kind === "odd") this.#oddity();
  }

  #propose(overrides: Partial<ProposalInput>): void {
    if (this.#random.chance(0.05)) this.#turn += 1;
    this.#calls += this.#random.chance(0.9) ? 1 : 0;
    const proposal: ProposalInput = {
      type: "proposal",
      tenantId: "t",
      conversationId: this.#random.pick(this.#conversations),
      callId: `call-${this.#calls}`,
      agentId: "agent",
      turn: `turn-${this.#turn}`,
      step: null,
      tool: this.#random.chance(0.04) ? "forbidden" : this.#random.pick(TOOLS),
      arguments: JSON.stringify({ order: this.#random.integer(1, 3) }),
      assistantText: null,
      estimatedCost: null,
      confirmation: null,
      rejected: null,
      ...overrides,
    };
    this.#send("proposals", proposal, proposal);
  }

  #repeat(): void {
    if (this.#sent.length === 0) return;
    this.#world.append([this.#random.pick(this.#sent)]);
  }

  #report(): void {
    const event = this.#visible("allowed");
    if (event === null) return;
    const status = this.#random.pick([
      "started",
      "succeeded",
      "succeeded",
      "failed",
      "not_executed",
    ]);
    const result: ResultInput = {
      type: "result",
      tenantId: event.tenantId,
      conversationId: event.conversationId,
      callId: event.call.callId,
      decisionId: event.decisionId,
      status: status as ResultInput["status"],
      output: status === "succeeded" ? `{"n":${this.#random.integer(1, 4)}}` : null,
      outputDigest: null,
      outputBytes: null,
      error: status === "failed" ? { code: "E1", message: "no", retryable: false } : null,
      durationMs: 5,
      cost: null,
    };
    this.#send("results", result, result);
  }

  #answer(): void {
    const event = this.#visible("held");
    if (event === null || event.type !== "held") return;
    const verdict: VerdictInput = {
      type: "verdict",
      kind: this.#random.pick(["approve", "approve", "deny"]),
      tenantId: event.tenantId,
      conversationId: event.conversationId,
      approvalId: this.#random.chance(0.9) ? event.holdId : "no-such-hold",
      decisionId: null,
      outcome: null,
      tier: null,
      tool: null,
      calls: null,
      untilMs: null,
      by: "someone",
      reason: null,
    };
    this.#send("verdicts", verdict, verdict);
  }

  /** Sends an invalid record: undecodable, too large, misrouted, or without a key. */
  #oddity(): void {
    const { random } = this.#world.scheduler;
    const partition = this.#partition;
    const topic = random.pick(["proposals", "results", "verdicts"] as const);
    const other = keysOf(partition + 1, this.#world.topics.partitions, 1)[0] ?? "";
    const kind = random.integer(0, 5);
    if (kind === 0) this.#world.append([{ topic, partition, key: "x", value: Buffer.from("{") }]);
    if (kind === 1) this.#world.append([{ topic, partition, key: null, value: null }]);
    if (kind === 2) this.#propose({ arguments: `{"pad":"${"x".repeat(RECORD_BYTES_MAX)}"}` });
    if (kind === 3) this.#propose({ conversationId: other });
    if (kind === 4) this.#propose({ tool: UNWRITABLE });
    if (kind === 5) this.#propose({ arguments: '{"order":1,"order":2}' });
  }

  #visible(topic: "allowed" | "held"): DecisionRecord["event"] | null {
    const { records } = this.#world.topics.read(topic, this.#partition, 0, EVERYTHING);
    if (records.length === 0) return null;
    const recent = records.slice(-12);
    return decodeJson<DecisionRecord>(this.#random.pick(recent).value).event;
  }

  #send(
    topic: "proposals" | "results" | "verdicts",
    input: GateInput,
    { tenantId, conversationId }: { readonly tenantId: string; readonly conversationId: string },
  ): void {
    const record: OutgoingRecord = {
      topic,
      partition: this.#partition,
      key: `${tenantId}/${conversationId}`,
      value: encodeJson(input),
    };
    this.#sent.push(record);
    this.#world.append([record]);
  }
}

/** Conversations whose key belongs to the partition. */
function keysOf(partition: number, partitions: number, count: number): readonly string[] {
  const names: string[] = [];
  for (let i = 0; names.length < count; i += 1) {
    const name = `conversation-${i}`;
    if (partitionOf(`t/${name}`, partitions) === partition % partitions) names.push(name);
  }
  return names;
}
