// The load of a fault run: agents propose without pause, an executor reports most calls, and a person
// answers most holds. It records what the broker acknowledged.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kafka, Message, Producer } from "kafkajs";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { ResultInput, VerdictInput } from "../../../services/core/inputs.ts";
import { conversationKey, partitionOf } from "../../../services/runtime/partitioner.ts";
import type { Log } from "../../../services/runtime/ports.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import type { AvroCodec } from "../../../services/wire/codec.ts";
import type { HeldCall } from "../../../services/wire/output-records.ts";

export type SentProposal = {
  readonly partition: number;
  readonly offset: number;
  readonly conversationId: string;
  readonly callId: string;
};

/** A proposal's journal record, as the load saw it. */
export type SeenDecision = {
  readonly seenAtMs: number;
  /** The time when the broker acknowledged the proposal. */
  readonly appendedAtMs: number;
};

type IdentifiedCall = {
  readonly conversationId: string;
  readonly callId: string;
  readonly step: string;
  readonly tool: string;
  readonly item: number;
};

type Call = {
  readonly key: string;
  readonly partition: number;
  readonly conversationId: string;
  readonly callId: string;
  readonly text: string;
};

export type LoadOptions = {
  readonly kafka: Kafka;
  /** Reads the gate's outputs. */
  readonly log: Log;
  readonly names: TopicNames;
  readonly codec: AvroCodec;
  readonly partitions: number;
  readonly perSecond: number;
  readonly seed: number;
  /** Whether the load reports results; otherwise the row does. */
  readonly executes: boolean;
};

/** A policy under which allowed calls, results, ticks and holds all occur. */
export const LOAD_POLICY = `
conversation: { max_age_ms: 86400000, idle_ms: 3600000 }
authorization:
  tiers:
    - { name: removals, pattern: "remove_*", action: hitl, expires_ms: 2500 }
tool_schemas:
  get_item: { read_only: true, reads: ["item/{item}"] }
  add_item: { effects: [{ resource: "item/{item}", kind: update }], time_limit_ms: 1500, start_within_ms: 1500 }
  pay_order: { effects: [{ resource: "order/{item}/payment", kind: charge }], time_limit_ms: 1500, start_within_ms: 1500 }
  remove_item: { effects: [{ resource: "item/{item}", kind: delete }], time_limit_ms: 1500, start_within_ms: 1500 }
`;

const TOOLS = ["get_item", "get_item", "add_item", "pay_order", "remove_item", "no_such_tool"];
const EVERY_MS = 20;
const BEGUN_WITHIN_MS = 60_000;
const CALLS_OF_CONVERSATION = 12;
const READ_LIMITS = { recordsMax: 500, bytesMax: 4 * 1024 * 1024 };
/** Retries for some ten seconds; then a new producer tries. */
const KEEP_TRYING = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 12 };
const encoder = new TextEncoder();

export class Load {
  readonly sent: SentProposal[] = [];
  /** Proposals that were sent twice on purpose, as by a producer that retries. */
  doubled = 0;
  /**
   * The time at which each journal record was seen, including results and ticks, by partition, in
   * epoch ms.
   */
  readonly seenAtMs: number[][] = [];
  /** The same for proposals only, by partition. */
  readonly decisions: SeenDecision[][] = [];
  /** Offset of the last proposal whose decision was seen, by partition. */
  readonly #decidedTo: number[] = [];
  readonly #options: LoadOptions;
  #producer: Producer;
  readonly #abort = new AbortController();
  readonly #random: () => number;
  #running: Promise<unknown> | null = null;
  #calls = 0;
  #pausedUntil: Promise<void> | null = null;

  constructor(options: LoadOptions) {
    this.#options = options;
    // Each follower of a topic waits on it.
    setMaxListeners(0, this.#abort.signal);
    this.#random = randomOf(options.seed);
    this.#producer = this.#newProducer();
    for (let partition = 0; partition < options.partitions; partition += 1) {
      this.seenAtMs[partition] = [];
      this.decisions[partition] = [];
      this.#decidedTo[partition] = -1;
    }
  }

  /** Resolves when every partition has decided something. */
  async start(): Promise<void> {
    await this.#producer.connect();
    const numbers = [...Array(this.#options.partitions).keys()];
    this.#running = Promise.all([
      this.#propose(),
      ...numbers.flatMap((partition) => [
        ...(this.#options.executes
          ? [this.#follow("allowed", partition, (value) => this.#execute(value, partition))]
          : []),
        this.#follow("held", partition, (value) => this.#answerMost(value)),
        this.#follow("decisions", partition, (value) => this.#see(value, partition)),
      ]),
    ]);
    await this.#untilAllDecide();
  }

  /** A fault on a partition without a decision would prove nothing. */
  async #untilAllDecide(): Promise<void> {
    const untilMs = Date.now() + BEGUN_WITHIN_MS;
    while (this.decisions.some(({ length }) => length === 0)) {
      if (Date.now() > untilMs) throw new Error("a partition did not begin to decide");
      await sleep(EVERY_MS);
    }
  }

  /** Whether the decision on the last proposal of each partition was seen. */
  isDecided(): boolean {
    return this.sent.every(({ partition, offset }) => offset <= (this.#decidedTo[partition] ?? -1));
  }

  /** Ends the proposals; allowed calls still run. */
  stopProposing(): void {
    this.#pausedUntil ??= new Promise(() => undefined);
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    await this.#producer.disconnect();
  }

  /** Writes a record of any kind, as some producer might; resolves to its offset. */
  append(
    topic: Topic,
    partition: number,
    key: string | null,
    value: Buffer | null,
  ): Promise<number> {
    return this.#persist(this.#options.names[topic], [{ key, value, partition }]);
  }

  /**
   * Proposes one more call for an agent of the row. The load neither runs it nor answers its hold.
   */
  async propose(conversationId: string, callId: string, tool: string): Promise<SentProposal> {
    const call = this.#callOf({ conversationId, callId, step: callId, tool, item: 0 });
    const offset = await this.#sendTo(call.partition, [call]);
    return { partition: call.partition, offset, conversationId, callId };
  }

  /** Writes a verdict on a hold; resolves to its offset. */
  answer(held: HeldCall, kind: "approve" | "deny"): Promise<number> {
    const { tenantId, conversationId, approvalId } = held;
    const verdict: VerdictInput = {
      ...{ type: "verdict", kind, tenantId, conversationId, approvalId },
      ...{ decisionId: null, outcome: null, tier: null },
      ...{ tool: null, calls: null, untilMs: null, by: "a person", reason: null },
    };
    const key = conversationKey(tenantId, conversationId);
    const value = Buffer.from(this.#options.codec.encodeVerdict(verdict));
    return this.append("verdicts", this.#partitionOf(key), key, value);
  }

  #partitionOf(key: string): number {
    return partitionOf(encoder.encode(key), this.#options.partitions);
  }

  /**
   * Until the brokers take it: an honest producer sends again what it is not sure of. The offset of the first
   * message; NaN where the load was closed before.
   */
  async #persist(topic: string, messages: readonly Message[]): Promise<number> {
    while (!this.#abort.signal.aborted) {
      const producer = this.#producer;
      try {
        const [metadata] = await producer.send({ topic, acks: -1, messages: [...messages] });
        return Number(metadata?.baseOffset);
      } catch {
        await this.#renew(producer);
        await sleep(200);
      }
    }
    return Number.NaN;
  }

  #newProducer(): Producer {
    return this.#options.kafka.producer({ idempotent: true, retry: KEEP_TRYING });
  }

  /** A producer that has failed may fail for ever. */
  async #renew(failed: Producer): Promise<void> {
    if (this.#producer !== failed) return;
    this.#producer = this.#newProducer();
    void failed.disconnect().catch(() => undefined);
    await this.#producer.connect().catch(() => undefined);
  }

  async #propose(): Promise<void> {
    const { perSecond } = this.#options;
    const startedMs = Date.now();
    while (!this.#abort.signal.aborted && this.#pausedUntil === null) {
      const due = Math.floor(((Date.now() - startedMs) / 1_000) * perSecond);
      const batch = Array.from({ length: Math.min(200, due - this.#calls) }, () => this.#next());
      await this.#send(batch);
      await sleep(EVERY_MS);
    }
  }

  /**
   * Sends to each partition separately, so that one without a leader does not repeat the others.
   */
  async #send(calls: readonly Call[]): Promise<void> {
    const partitions = [...new Set(calls.map(({ partition }) => partition))];
    await Promise.all(
      partitions.map((partition) =>
        this.#sendTo(
          partition,
          calls.filter((call) => call.partition === partition),
        ),
      ),
    );
  }

  /** The offset of the first message, as `#persist` returns it. */
  async #sendTo(partition: number, calls: readonly Call[]): Promise<number> {
    const messages = calls.map(({ key, text }) => ({ key, partition, value: text }));
    const first = await this.#persist(this.#options.names.proposals, messages);
    for (const [index, { conversationId, callId }] of calls.entries()) {
      this.sent.push({ partition, offset: first + index, conversationId, callId });
    }
    return first;
  }

  #next(): Call {
    const number = this.#calls;
    this.#calls += 1;
    // Every fiftieth message repeats the one before it, as a producer without an answer does.
    const again = number % 50 === 49;
    const at = again ? number - 1 : number;
    if (again) this.doubled += 1;
    const conversation = Math.floor(at / (CALLS_OF_CONVERSATION * 16)) * 16 + (at % 16);
    const conversationId = `conversation-${conversation}`;
    const random = again ? this.#lastRandom : [this.#random(), this.#random()];
    this.#lastRandom = random;
    const [first = 0, second = 0] = random;
    const tool = TOOLS[Math.floor(first * TOOLS.length)] ?? "get_item";
    const item = Math.floor(second * 4);
    return this.#callOf({ conversationId, callId: `call-${at}`, step: String(at), tool, item });
  }

  #callOf({ item, ...identity }: IdentifiedCall): Call {
    const { conversationId, callId } = identity;
    const proposal = {
      ...{ tenantId: "default", turn: "1", ...identity },
      arguments: JSON.stringify({ item }),
    };
    const key = conversationKey("default", conversationId);
    const text = JSON.stringify(proposal);
    return { key, partition: this.#partitionOf(key), conversationId, callId, text };
  }

  #lastRandom: readonly number[] = [0, 0];

  async #follow(
    topic: Topic,
    partition: number,
    handle: (value: Uint8Array) => Promise<void>,
  ): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#abort;
    let offset = 0;
    while (!signal.aborted) {
      try {
        const { records, nextOffset } = await log.read(topic, partition, offset, READ_LIMITS);
        for (const { value } of records) if (value !== null) await handle(value);
        offset = nextOffset;
        if (records.length === 0) {
          await log.waitForNew([{ topic, partition, offset }], 250, signal);
        }
      } catch {
        // The brokers are under faults, so the read is repeated.
        await sleep(100);
      }
    }
  }

  async #see(value: Uint8Array, partition: number): Promise<void> {
    const seenAtMs = Date.now();
    this.seenAtMs[partition]?.push(seenAtMs);
    const { input } = this.#options.codec.decodeJournal(value);
    if (input.type === "idle" || input.at.topic !== "proposals") return;
    this.#decidedTo[partition] = input.at.offset;
    this.decisions[partition]?.push({ seenAtMs, appendedAtMs: input.at.appendTimeMs });
  }

  /** Reports most calls, some as failed; the others become unknown. */
  async #execute(value: Uint8Array, partition: number): Promise<void> {
    const call = this.#options.codec.decodeAllowed(value);
    if (isOfRow(call)) return;
    const chance = Number.parseInt(call.decisionId.slice(0, 2), 16) / 256;
    if (chance > 0.9) return;
    const failed = chance > 0.8;
    const result: ResultInput = {
      type: "result",
      ...{ tenantId: call.tenantId, conversationId: call.conversationId, callId: call.call.callId },
      decisionId: call.decisionId,
      status: failed ? "failed" : "succeeded",
      output: failed ? null : `done ${call.arguments.text}`,
      ...{ outputDigest: null, outputBytes: null, durationMs: 1, cost: null },
      error: failed ? { code: "500", message: "try later", retryable: true } : null,
    };
    const key = conversationKey(call.tenantId, call.conversationId);
    await this.append(
      "results",
      partition,
      key,
      Buffer.from(this.#options.codec.encodeResult(result)),
    );
  }

  /** Approves half of the holds and denies some; the others expire. */
  async #answerMost(value: Uint8Array): Promise<void> {
    const held = this.#options.codec.decodeHeld(value);
    if (isOfRow(held)) return;
    const chance = Number.parseInt(held.approvalId.slice(0, 2), 16) / 256;
    if (chance > 0.75) return;
    await this.answer(held, chance > 0.5 ? "deny" : "approve");
  }
}

/** Agents of a row report and propose themselves. */
function isOfRow({ conversationId }: { readonly conversationId: string }): boolean {
  return !conversationId.startsWith("conversation-");
}

/** Mulberry32: the same seed gives the same calls. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
