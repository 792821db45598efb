/**
 * Tells listeners of decisions. Behind Kafka: those on calls of this program. With a gate in this
 * process: all decisions that it journals, also on holds that expire or that others decide.
 *
 * HOOK-1 a listener is told of each journaled decision once, before the call goes on.
 */
import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type { CallNames, Decision, DecisionListener } from "../api/gate-types.ts";
import type { Proposed } from "../gate-client.ts";
import { isDecision } from "../journal/recent-calls.ts";

/** What the hook needs of a client. */
type Source = {
  onCommitted(listener: (records: readonly CommittedRecord[]) => void): void;
  /** The decision as programs see it. */
  show(event: DecisionEvent, repeated: boolean): Decision;
};

export class DecisionHook {
  readonly #listeners = new Set<DecisionListener>();
  readonly #source: Source;
  /** Whether the journal of this process has every decision. */
  readonly #hasJournal: boolean;

  constructor(source: Source, isRemote: boolean) {
    this.#source = source;
    this.#hasJournal = !isRemote;
    if (this.#hasJournal) source.onCommitted((records) => this.#committed(records));
  }

  /** Returns a function that removes the listener. @throws CallgateError `invalid_input` */
  add(listener: DecisionListener): () => void {
    if (typeof listener !== "function") {
      throw new CallgateError("invalid_input", "`onDecision` needs a function");
    }
    // A wrapper of its own, so that a function that is added twice is removed once.
    const entry: DecisionListener = (decision, call) => listener(decision, call);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** Called with each answer to this program; `call` names it where nothing was journaled. */
  answered(proposed: Proposed, call: ProposedNames): void {
    if (this.#listeners.size === 0 || (proposed.event !== null && this.#hasJournal)) return;
    this.#tell(proposed.decision, callOf(proposed, call));
  }

  /** Called with the decision that a verdict of this program led to. */
  decided({ decision, event }: Proposed): void {
    if (event !== null && !this.#hasJournal) this.#tell(decision, namesIn(event));
  }

  #committed(records: readonly CommittedRecord[]): void {
    if (this.#listeners.size === 0) return;
    for (const { record } of records) for (const event of record.events) this.#journaled(event);
  }

  #journaled(event: GateEvent): void {
    const decided = event.type === "repeated" ? event.decision : event;
    if (!isDecision(decided)) return;
    this.#tell(this.#source.show(decided, event.type === "repeated"), namesIn(decided));
  }

  #tell(decision: Decision, call: CallNames): void {
    for (const listener of [...this.#listeners]) notifyListener(listener, decision, call);
  }
}

/** Names as a program passes them. */
export type ProposedNames = {
  readonly tenantId?: string | undefined;
  readonly conversationId: string;
  readonly agentId?: string | undefined;
};

function namesOf({ tenantId = "default", conversationId, agentId }: ProposedNames): CallNames {
  return { tenantId, conversationId, agentId: agentId ?? null };
}

function namesIn({ tenantId, conversationId, call }: DecisionEvent): CallNames {
  return { tenantId, conversationId, agentId: call.agentId };
}

/** Calls the listener. Errors that it throws become process warnings and do not affect the call. */
export function notifyListener(
  listener: DecisionListener | undefined,
  decision: Decision,
  call: CallNames,
): void {
  if (listener === undefined) return;
  try {
    listener(decision, call);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error), "CallgateListener");
  }
}

/** The call that an answer is about. */
export function callOf({ event }: Proposed, call: ProposedNames): CallNames {
  return event === null ? namesOf(call) : namesIn(event);
}
