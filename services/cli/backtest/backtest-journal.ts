/** Decides a recorded journal again, by one policy or by two, and compares the decisions. */
import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import type { CompiledPolicy } from "../../core/policy/compiled.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { conversationKey } from "../../runtime/partitioner.ts";
import { journalOf } from "../cluster/journal-records.ts";
import type { Source } from "../cluster/open-source.ts";
import type { Changes } from "./changes.ts";
import { DecideAgain } from "./decide-again.ts";

/** With `current` null, the candidate is compared with the recorded decisions. */
export async function backtestJournal(
  source: Source,
  current: CompiledPolicy | null,
  candidate: CompiledPolicy,
  changes: Changes,
): Promise<void> {
  let backtest: PartitionBacktest | undefined;
  let at = -1;
  for await (const { partition, offset, record } of journalOf(source)) {
    if (partition !== at) backtest = new PartitionBacktest(current, candidate, changes);
    at = partition;
    backtest?.add(record, `${partition}/${offset}`);
  }
}

/** The state of a conversation until it is over. */
type Seen = { changed: boolean; dropAtMs: number };

const SWEEP_EVERY = 1_000;

class PartitionBacktest {
  readonly #current: DecideAgain | null;
  readonly #candidate: DecideAgain;
  readonly #changes: Changes;
  readonly #seen = new Map<string, Seen>();
  /** Open recorded holds, from hold id to decision id. */
  readonly #holds = new Map<string, string>();

  constructor(current: CompiledPolicy | null, candidate: CompiledPolicy, changes: Changes) {
    this.#current = current === null ? null : new DecideAgain(current);
    this.#candidate = new DecideAgain(candidate);
    this.#changes = changes;
  }

  add(record: JournalRecord, location: string): void {
    const before = this.#current?.decide(record, this.#holds) ?? record.events;
    const after = this.#candidate.decide(record, this.#holds);
    this.#follow(record.events);
    const byId = new Map(after.filter(isDecision).map((event) => [event.decisionId, event]));
    for (const event of before) {
      if (!isDecision(event)) continue;
      const other = byId.get(event.decisionId);
      // A call that the other policy does not hold already has its decision.
      if (other !== undefined) this.#compare(event, other, location);
    }
    if (record.seq % SWEEP_EVERY === 0) this.#sweep(record.clocks.proposals);
  }

  #compare(before: DecisionEvent, after: DecisionEvent, location: string): void {
    const key = conversationKey(after.tenantId, after.conversationId);
    const existing = this.#seen.get(key);
    if (existing === undefined) this.#changes.addConversation();
    const seen = existing ?? { changed: false, dropAtMs: 0 };
    seen.dropAtMs = Math.max(
      seen.dropAtMs,
      before.conversation.dropAtMs,
      after.conversation.dropAtMs,
    );
    if (this.#changes.add(before, after, location, seen.changed)) seen.changed = true;
    this.#seen.set(key, seen);
  }

  #follow(events: readonly GateEvent[]): void {
    for (const event of events) {
      if (!isDecision(event)) continue;
      if (event.approval.approvalId !== null) this.#holds.delete(event.approval.approvalId);
      if (event.type === "held") this.#holds.set(event.holdId, event.decisionId);
    }
  }

  #sweep(proposalsAtMs: number): void {
    for (const [key, { dropAtMs }] of this.#seen) {
      if (dropAtMs <= proposalsAtMs) this.#seen.delete(key);
    }
  }
}

function isDecision(event: GateEvent): event is DecisionEvent {
  return event.type === "allowed" || event.type === "refused" || event.type === "held";
}
