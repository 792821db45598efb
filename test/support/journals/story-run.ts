// Runs a story on one partition of the gate: one input at a time and at fixed times, so that its
// journal has the same bytes on every run.

import type { DecisionEvent, GateEvent } from "../../../services/core/events.ts";
import type { ProposalInput, ResultInput, VerdictInput } from "../../../services/core/inputs.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import type { InputTopic } from "../../../services/runtime/topics.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { RuntimeKit, TestClock } from "../runtime-kit.ts";
import { createEngine } from "../simulation/engines.ts";
import { SAMPLE_SECRETS } from "../wire/samples.ts";
import { appendRecorded, type RecordedJournal, valuesOf } from "./recorded-journal.ts";

/** Small, so that a short journal has many hash records. */
const HASH_EVERY = 4;

export type Story = {
  readonly document: PolicyDocument;
  readonly play: (run: StoryRun) => Promise<void>;
};

/** `tenant/conversation` */
type ConversationKey = string;

export class StoryRun {
  readonly kit = new RuntimeKit();
  readonly #codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
  readonly #calls = new Map<string, ProposalInput>();
  readonly #decisions = new Map<string, DecisionEvent>();
  #turn = 1;
  #inputs = 0;

  /**
   * @param revision revision of the policy in the journal.
   * @param before an earlier journal that the story continues.
   */
  constructor(document: PolicyDocument, revision: string, before?: RecordedJournal) {
    if (before !== undefined) this.#remember(before);
    this.kit.start({
      engine: createEngine(document, revision),
      checkpoints: null,
      options: { hashEvery: HASH_EVERY },
      // This task's clock stands still and sends no ticks: the story does.
      context: { codec: this.#codec, clock: new TestClock() },
    });
  }

  after(ms: number): void {
    this.kit.clock.advance(ms);
  }

  nextTurn(): void {
    this.#turn += 1;
  }

  /** Proposes a call to which later steps of the story refer by its id. */
  call(
    id: string,
    conversationKey: ConversationKey,
    tool: string,
    args: object | string,
    overrides: Partial<ProposalInput> = {},
  ): Promise<readonly GateEvent[]> {
    const [tenantId = "", conversationId = ""] = conversationKey.split("/");
    const proposal = this.kit.proposal({
      tenantId,
      conversationId,
      callId: id,
      turn: String(this.#turn),
      tool,
      arguments: typeof args === "string" ? args : JSON.stringify(args),
      ...overrides,
    });
    this.#know(proposal);
    return this.input("proposals", conversationKey, this.#codec.encodeProposal(proposal));
  }

  /** Sends the same proposal again. */
  again(id: string): Promise<readonly GateEvent[]> {
    const proposal = this.#proposal(id);
    return this.input(
      "proposals",
      makeConversationKey(proposal),
      this.#codec.encodeProposal(proposal),
    );
  }

  result(
    id: string,
    status: ResultInput["status"],
    overrides: Partial<ResultInput> = {},
  ): Promise<readonly GateEvent[]> {
    const { tenantId, conversationId, callId } = this.#proposal(id);
    const result: ResultInput = {
      type: "result",
      tenantId,
      conversationId,
      callId,
      decisionId: this.#decision(id).decisionId,
      status,
      output: status === "succeeded" ? '{"ok":true}' : null,
      outputDigest: null,
      outputBytes: null,
      error: status === "failed" ? { code: "E", message: "no", retryable: false } : null,
      durationMs: 20,
      cost: null,
      ...overrides,
    };
    return this.input("results", makeConversationKey(result), this.#codec.encodeResult(result));
  }

  /** Proposes a call and reports that it succeeded. */
  async done(
    id: string,
    conversationKey: ConversationKey,
    tool: string,
    args: object,
    output = '{"ok":true}',
  ): Promise<void> {
    await this.call(id, conversationKey, tool, args);
    await this.result(id, "succeeded", { output });
  }

  /** Gives a verdict on the call of that id; `overrides` has its other members. */
  verdict(
    kind: VerdictInput["kind"],
    about: { readonly callId?: string; readonly conversationKey?: ConversationKey },
    overrides: Partial<VerdictInput> = {},
  ): Promise<readonly GateEvent[]> {
    const decision = about.callId === undefined ? undefined : this.#decision(about.callId);
    const conversationKey =
      about.conversationKey ?? makeConversationKey(this.#proposal(about.callId ?? ""));
    const [tenantId = "", conversationId = ""] = conversationKey.split("/");
    const verdict: VerdictInput = {
      type: "verdict",
      kind,
      tenantId,
      conversationId,
      approvalId: decision?.type === "held" ? decision.holdId : null,
      decisionId: kind === "reconcile" ? (decision?.decisionId ?? null) : null,
      outcome: null,
      tier: null,
      tool: null,
      calls: null,
      untilMs: null,
      by: "ann",
      reason: null,
      ...overrides,
    };
    return this.input("verdicts", conversationKey, this.#codec.encodeVerdict(verdict));
  }

  tick(): Promise<readonly GateEvent[]> {
    return this.input("verdicts", null, this.#codec.encodeTick());
  }

  /** Appends any bytes and returns the events of their journal record. */
  async input(
    topic: InputTopic,
    key: string | null,
    value: Uint8Array,
  ): Promise<readonly GateEvent[]> {
    this.after(1_000);
    await this.kit.log.append([{ topic, partition: 0, key, value: Uint8Array.from(value) }]);
    this.#inputs += 1;
    const { events } = await this.#journaled(this.#inputs);
    for (const event of events) this.#learn(event);
    return events;
  }

  /** Proposes reads until the last record of the journal has the hash of the state. */
  async toHashRecord(conversationKey: ConversationKey): Promise<void> {
    while (this.#inputs % HASH_EVERY !== 0) {
      await this.call(`last-${this.#inputs}`, conversationKey, "look", { n: this.#inputs });
    }
  }

  #remember(before: RecordedJournal): void {
    appendRecorded(this.kit.log, before);
    for (const [, , appendTimeMs] of before.records) {
      this.after(Math.max(0, appendTimeMs - this.kit.clock.nowMs()));
    }
    for (const value of valuesOf(before, "decisions")) {
      const { input, events } = this.#codec.decodeJournal(value);
      this.#inputs += 1;
      if (input.type === "decided" && input.input.type === "proposal") this.#know(input.input);
      for (const event of events) this.#learn(event);
    }
  }

  #know(proposal: ProposalInput): void {
    if (!this.#calls.has(proposal.callId)) this.#calls.set(proposal.callId, proposal);
    this.#turn = Number(proposal.turn);
  }

  #learn(event: GateEvent): void {
    if (event.type !== "allowed" && event.type !== "held" && event.type !== "refused") return;
    this.#decisions.set(event.call.callId, event);
  }

  async #journaled(count: number): Promise<JournalRecord> {
    while ((await this.kit.log.endOffset("decisions", 0)) < count) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const value = (await this.kit.values("decisions"))[count - 1];
    return this.#codec.decodeJournal(value ?? new Uint8Array());
  }

  /** The latest decision on the call of that id. */
  #decision(id: string): DecisionEvent {
    const decision = this.#decisions.get(id);
    if (decision === undefined) throw new Error(`the call ${id} was not decided`);
    return decision;
  }

  #proposal(id: string): ProposalInput {
    const proposal = this.#calls.get(id);
    if (proposal === undefined) throw new Error(`there is no call ${id}`);
    return proposal;
  }
}

function makeConversationKey(of: {
  readonly tenantId: string;
  readonly conversationId: string;
}): ConversationKey {
  return `${of.tenantId}/${of.conversationId}`;
}
