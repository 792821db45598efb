/**
 * Decides a partition's inputs again under another policy, in their original order. The state
 * follows from this policy's own events, never from the recorded ones.
 *
 * BACKTEST-1 memory contains the conversations that the gate would have: expired ones are dropped.
 * BACKTEST-2 sensitive values stay the digests that the journal has; problems with the values were detected
 *   at the time.
 * BACKTEST-3 a verdict answers the hold of the same call, whatever id, action and rule the other policy
 *   gave it.
 */

import { trieGet } from "../../collections/trie.ts";
import { decide } from "../../core/decide/decide.ts";
import type { GateEvent } from "../../core/events.ts";
import type { GateInput, VerdictInput } from "../../core/inputs.ts";
import type { CompiledPolicy } from "../../core/policy/compiled.ts";
import { sealProposal } from "../../core/seal/seal-arguments.ts";
import type { ReadClaim } from "../../core/state/claims.ts";
import { hasLapsed, nextDeadlineMs } from "../../core/state/deadline.ts";
import { evolve } from "../../core/state/evolve.ts";
import type { ConversationState } from "../../core/state/state.ts";
import { overRecorded } from "../../gate/gate-policy.ts";
import { DeadlineIndex } from "../../runtime/deadline-index.ts";
import type { DecidedInput, JournalRecord } from "../../runtime/journal.ts";
import { conversationKey } from "../../runtime/partitioner.ts";

/** How many conversations one tick checks, as in the gate. */
const TICK_CONVERSATIONS_MAX = 100;
const SWEEP_EVERY = 1_000;

export class DecideAgain {
  readonly #policy: CompiledPolicy;
  readonly #states = new Map<string, ConversationState>();
  readonly #deadlines = new DeadlineIndex();

  readonly #readClaim: ReadClaim = (tenantId, claimId) =>
    this.#states.get(conversationKey(tenantId, claimId));

  constructor(policy: CompiledPolicy) {
    this.#policy = overRecorded(policy);
  }

  /** `holds` maps each open recorded hold to its decision. */
  decide(record: JournalRecord, holds: ReadonlyMap<string, string>): readonly GateEvent[] {
    if (record.seq % SWEEP_EVERY === 0) this.#sweep(record.clocks.proposals);
    if (record.input.type !== "decided") return [];
    const { at, input } = record.input as DecidedInput;
    const nowMs = record.clocks[at.topic];
    if (input.type === "tick") return this.#tick(nowMs);
    const key = conversationKey(input.tenantId, input.conversationId);
    const preparedInput =
      input.type === "verdict"
        ? this.#translated(key, input, record.events, holds)
        : this.#sealed(input, key, record);
    return this.#apply(key, preparedInput, nowMs);
  }

  #sealed(input: GateInput, key: string, { events, clocks }: JournalRecord): GateInput {
    if (input.type !== "proposal") return input;
    const state = this.#states.get(key);
    const live = state === undefined || hasLapsed(state, clocks.proposals) ? undefined : state;
    const sealed = sealProposal(live, input, this.#policy);
    const [event] = events;
    const clear = sealed.clear ?? null;
    if (clear === null || event?.type !== "refused") return sealed;
    return { ...sealed, clear: { ...clear, recordedProblems: event.refusal.problems } };
  }

  #apply(key: string, input: GateInput, nowMs: number): readonly GateEvent[] {
    const events = decide(this.#states.get(key), input, this.#policy, nowMs, this.#readClaim);
    for (const event of events) {
      const own = conversationKey(event.tenantId, event.conversationId);
      const state = evolve(this.#states.get(own), event);
      if (state === undefined) continue;
      this.#states.set(own, state);
      this.#deadlines.set(own, nextDeadlineMs(state));
    }
    return events;
  }

  #translated(
    key: string,
    input: VerdictInput,
    events: readonly GateEvent[],
    holds: ReadonlyMap<string, string>,
  ): VerdictInput {
    if (input.approvalId === null) return input;
    const decisionId = holds.get(input.approvalId);
    const state = this.#states.get(key);
    const open = decisionId === undefined || !state ? undefined : trieGet(state.open, decisionId);
    const held = open?.held ?? null;
    if (held === null) return input;
    const own = { ...input, approvalId: held.holdId };
    if (input.about === undefined || events.some(isOfAnother)) return own;
    const {
      call: { callId },
      arguments: { actionKey },
      ruleDigest,
    } = held;
    return { ...own, about: { callId, actionKey, ruleDigest } };
  }

  #tick(nowMs: number): readonly GateEvent[] {
    const due = [...this.#deadlines.due(nowMs)].sort(
      (a, b) => a.deadlineMs - b.deadlineMs || (a.key < b.key ? -1 : 1),
    );
    return due
      .slice(0, TICK_CONVERSATIONS_MAX)
      .flatMap(({ key }) => this.#apply(key, { type: "tick" }, nowMs));
  }

  #sweep(proposalsAtMs: number): void {
    for (const [key, state] of this.#states) {
      if (!hasLapsed(state, proposalsAtMs)) continue;
      this.#states.delete(key);
      this.#deadlines.set(key, undefined);
    }
  }
}

/** The verdict answered another hold than the waiting one, in the record as well. */
function isOfAnother(event: GateEvent): boolean {
  return event.type === "ignored" && event.why.startsWith("wrong_");
}
