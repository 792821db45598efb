// Tells one partition of the gate a story, an input at a time and at times of its own, so that its
// journal is the same bytes on every run.

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

/** Small, so that a short journal has many. */
const HASH_EVERY = 4;

export type Story = {
  readonly document: PolicyDocument;
  readonly tell: (telling: Telling) => Promise<void>;
};

/** `tenant/conversation` */
type ConversationKey = string;

export class Telling {
  readonly kit = new RuntimeKit();
  readonly #codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
  readonly #calls = new Map<string, ProposalInput>();
  readonly #decisions = new Map<string, DecisionEvent>();
  #turn = 1;
  #inputs = 0;

  /** `revision`: of the policy, as the journal names it. `before`: what was told already, to go on with. */
  constructor(document: PolicyDocument, revision: string, before?: RecordedJournal) {
    if (before !== undefined) this.#remember(before);
    this.kit.start({
      engine: createEngine(document, revision),
      checkpoints: null,
      options: { hashEvery: HASH_EVERY },
      // A clock that stands still sends no ticks: the story does.
      context: { codec: this.#codec, clock: new TestClock() },
    });
  }

  after(ms: number): void {
    this.kit.clock.advance(ms);
  }

  nextTurn(): void {
    this.#turn += 1;
  }

  /** Proposes a call that the story goes on to speak of by its id, `named`. */
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

  /** The same proposal once more. */
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

  /** Proposed, and it succeeded. */
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

  /** A word on the call of that id; `given` says what else there is to say. */
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

  /** Any bytes; gives the events of their journal record. */
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

  /** Goes on until the last record of the journal has the hash of the state. */
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
    if (proposal === undefined) throw new Error(`no call is named ${id}`);
    return proposal;
  }
}

function makeConversationKey(of: {
  readonly tenantId: string;
  readonly conversationId: string;
}): ConversationKey {
  return `${of.tenantId}/${of.conversationId}`;
}
