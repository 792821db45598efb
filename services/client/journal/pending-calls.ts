/**
 * The calls that wait for a person, according to the journal. The first request reads the journal
 * once, newest first; later requests read only what is new.
 */
import type { JsonObject } from "../../core/canonical/json-value.ts";
import type { CallHeld, GateEvent } from "../../core/events.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { asCallgateError } from "../api/callgate-error.ts";
import type { PendingCall, PendingFilter } from "../api/gate-types.ts";
import { type Journal, searchPartition } from "./search-journal.ts";

type Hold = { readonly held: CallHeld; readonly approvedBy: readonly string[] };

export class PendingCalls {
  readonly #journal: Journal;
  /** By approval id. */
  readonly #holds = new Map<string, Hold>();
  /** Where to go on reading, by partition. */
  readonly #next = new Map<number, number>();
  #reading: Promise<void> = Promise.resolve();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /**
   * The calls that wait now, the oldest first.
   *
   * @param assertWanted throws if nobody waits for the answer any more.
   * @throws CallgateError if the journal cannot be read.
   */
  async list(filter: PendingFilter, assertWanted: () => void): Promise<readonly PendingCall[]> {
    const before = this.#reading.catch(() => undefined);
    this.#reading = before.then(() => this.#readOn(assertWanted));
    try {
      await this.#reading;
    } catch (error) {
      throw asCallgateError(error);
    }
    const nowMs = Date.now();
    return [...this.#holds.values()]
      .filter(({ held }) => held.expiresAtMs > nowMs && fits(held, filter))
      .sort((a, b) => a.held.times.atMs - b.held.times.atMs)
      .map(pendingOf);
  }

  async #readOn(assertWanted: () => void): Promise<void> {
    for (let partition = 0; partition < this.#journal.log.partitions; partition += 1) {
      const news = new HoldNews();
      const find = ({ events }: JournalRecord) => news.take(events);
      const from = { partition, offset: this.#next.get(partition) ?? 0 };
      const { since } = await searchPartition(this.#journal, from, { find, assertWanted });
      this.#next.set(partition, since.offset);
      news.addTo(this.#holds);
    }
  }
}

/** Hold events from a section of the journal; they arrive newest first. */
class HoldNews {
  readonly #ended = new Set<string>();
  readonly #begun: CallHeld[] = [];
  readonly #approvals: { readonly approvalId: string; readonly by: string }[] = [];

  take(events: readonly GateEvent[]): undefined {
    for (const event of [...events].reverse()) {
      if (event.type === "ruled" && event.approvalId !== null) {
        this.#approvals.unshift({ approvalId: event.approvalId, by: event.by });
      }
      if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") continue;
      if (event.type === "held" && !this.#ended.has(event.holdId)) this.#begun.unshift(event);
      if (event.approval.approvalId !== null) this.#ended.add(event.approval.approvalId);
    }
  }

  addTo(holds: Map<string, Hold>): void {
    for (const id of this.#ended) holds.delete(id);
    for (const held of this.#begun) holds.set(held.holdId, { held, approvedBy: [] });
    for (const { approvalId, by } of this.#approvals) {
      const hold = holds.get(approvalId);
      if (hold !== undefined) {
        holds.set(approvalId, { ...hold, approvedBy: [...hold.approvedBy, by] });
      }
    }
  }
}

function fits(held: CallHeld, { tenantId, conversationId }: PendingFilter): boolean {
  if (tenantId !== undefined && tenantId !== held.tenantId) return false;
  return conversationId === undefined || conversationId === held.conversationId;
}

function pendingOf({ held, approvedBy }: Hold): PendingCall {
  const {
    holdId: approvalId,
    decisionId,
    tenantId,
    conversationId,
    call: { agentId, callId },
  } = held;
  return {
    ...{ approvalId, decisionId, tenantId, conversationId, agentId, callId },
    tool: held.call.tool,
    arguments: JSON.parse(held.arguments.text) as JsonObject,
    heldAt: held.times.atMs,
    expiresAt: held.expiresAtMs,
    message: held.message,
    rule: held.rule,
    requireReason: held.requireReason,
    approvals: held.approvals,
    approvedBy,
    further: held.scope,
  };
}
