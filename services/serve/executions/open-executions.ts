/**
 * The allowed calls that have not ended, and the claims of workers on them: a fold of the journal.
 *
 * OPEN-EXECUTIONS-1 the journal alone determines who holds a call, so all servers agree.
 * OPEN-EXECUTIONS-2 a call that somebody else than a worker began is not contained.
 * OPEN-EXECUTIONS-3 memory is bounded: beyond the limit new calls are left out, and `leftOut` says
 *   from where the journal must be read again for them.
 */
import { stepName } from "../../client/calls/run-call.ts";
import type { JournalPosition } from "../../client/journal/search-journal.ts";
import type { CallAllowed } from "../../core/events.ts";
import type { ResultInput } from "../../core/inputs.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import { conversationKey } from "../../runtime/partitioner.ts";
import { parseClaim, type WorkerClaim } from "./worker-claim.ts";

export type OpenExecution = {
  readonly decisionId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly tool: string;
  readonly isRead: boolean;
  readonly step: string | null;
  /** Of the decision, in the journal. */
  readonly position: JournalPosition;
  readonly notAfterMs: number;
  readonly timeLimitMs: number;
  /** Gate time of the decision. */
  readonly allowedMs: number;
  /** Null: nobody has begun the call. */
  readonly claim: HeldClaim | null;
};

export type HeldClaim = WorkerClaim & {
  readonly claimedMs: number;
  /** When the claim ends unless it is renewed. */
  readonly leaseEndMs: number;
};

/** After the time limit, an in-time report of the limit itself may still be on its way. */
const LIMIT_GRACE_MS = 5_000;
const MS_PER_SECOND = 1_000;

export class OpenExecutions {
  readonly #max: number;
  /** By decision id. */
  readonly #calls = new Map<string, OpenExecution>();
  /** Calls without a claim, or with one that was given back, by tool. */
  readonly #free = new Map<string, Map<string, OpenExecution>>();
  readonly #claimed = new Map<string, OpenExecution>();
  /** Writes by conversation. */
  readonly #writes = new Map<string, Map<string, OpenExecution>>();
  /** Offset of the first call that was left out, by partition. */
  readonly #leftOut = new Map<number, number>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Offset of the first call that was left out, by partition; empty: none was. */
  get leftOut(): ReadonlyMap<number, number> {
    return this.#leftOut;
  }

  get(decisionId: string): OpenExecution | undefined {
    return this.#calls.get(decisionId);
  }

  /** Tools of calls that nobody holds. */
  get freeTools(): Iterable<string> {
    return this.#free.keys();
  }

  /** Calls that a worker holds. */
  get claimed(): Iterable<OpenExecution> {
    return this.#claimed.values();
  }

  /** Calls of the tool that nobody holds. */
  free(tool: string): Iterable<OpenExecution> {
    return this.#free.get(tool)?.values() ?? [];
  }

  /**
   * Whether an earlier write of the conversation must end first. Writes of one step were requested
   * together, and reads run beside all of them.
   *
   * @param isOurs whether workers run the tool; calls of other tools do not hold up anything.
   */
  isBlocked(call: OpenExecution, isOurs: (tool: string) => boolean, nowMs: number): boolean {
    if (call.isRead) return false;
    for (const earlier of this.#writes.get(keyOf(call))?.values() ?? []) {
      if (earlier.position.offset >= call.position.offset) continue;
      if (call.step !== null && call.step === earlier.step) continue;
      if (isHeld(earlier)) return true;
      if (isOurs(earlier.tool) && nowMs <= earlier.notAfterMs) return true;
    }
    return false;
  }

  learn({ offset, appendTimeMs, record }: CommittedRecord, partition: number): void {
    for (const event of record.events) {
      switch (event.type) {
        case "allowed":
          this.#allowed(event, { partition, offset });
          break;
        case "outcome_unknown":
        case "reconciled":
          this.drop(event.decisionId);
          break;
        case "result_recorded":
          if (event.status !== "started") this.drop(event.decisionId);
          break;
        default:
          break;
      }
    }
    const { input } = record;
    if (input.type !== "decided" || input.input.type !== "result") return;
    if (input.input.status !== "started") return;
    const isFirst = record.events[0]?.type === "result_recorded";
    this.#started(input.input, isFirst, appendTimeMs);
  }

  /** Forgets a call that is over, or too late to begin. */
  drop(decisionId: string): void {
    const call = this.#calls.get(decisionId);
    if (call === undefined) return;
    this.#calls.delete(decisionId);
    this.#claimed.delete(decisionId);
    removeFrom(this.#free, call.tool, decisionId);
    removeFrom(this.#writes, keyOf(call), decisionId);
  }

  /**
   * Takes over the calls that were left out here, and that are contained in the other, which has read
   * the journal from `leftOut` to the same record as this.
   */
  adopt(other: OpenExecutions): void {
    this.#leftOut.clear();
    for (const call of other.#calls.values()) {
      if (this.#calls.has(call.decisionId)) continue;
      if (this.#calls.size < this.#max) this.#put(call);
      else this.#leaveOut(call.position);
    }
    for (const [partition, offset] of other.#leftOut) this.#leaveOut({ partition, offset });
  }

  #leaveOut({ partition, offset }: JournalPosition): void {
    const first = this.#leftOut.get(partition);
    if (first === undefined || offset < first) this.#leftOut.set(partition, offset);
  }

  #allowed(event: CallAllowed, position: JournalPosition): void {
    if (this.#calls.size >= this.#max) {
      this.#leaveOut(position);
      return;
    }
    const { decisionId, tenantId, conversationId, notAfterMs, timeLimitMs } = event;
    const { tool, turn, step } = event.call;
    this.#put({
      ...{ decisionId, tenantId, conversationId, tool, notAfterMs, timeLimitMs, position },
      isRead: event.policy.isRead,
      step: stepName(turn, step),
      allowedMs: event.times.atMs,
      claim: null,
    });
  }

  #started(result: ResultInput, isFirst: boolean, atMs: number): void {
    const call = this.#calls.get(result.decisionId);
    if (call === undefined || call.tenantId !== result.tenantId) return;
    const claim = parseClaim(result.executorId);
    if (claim === null) {
      if (isFirst) this.drop(call.decisionId);
      return;
    }
    if (isFirst || isTakenOver(call, claim)) this.#hold(call, claim, atMs, atMs);
    else if (isSame(call, claim)) this.#hold(call, claim, call.claim?.claimedMs ?? atMs, atMs);
  }

  #hold(call: OpenExecution, claim: WorkerClaim, claimedMs: number, atMs: number): void {
    const limitMs = claimedMs + call.timeLimitMs + LIMIT_GRACE_MS;
    const leaseEndMs = Math.min(atMs + claim.leaseSeconds * MS_PER_SECOND, limitMs);
    this.#put({ ...call, claim: { ...claim, claimedMs, leaseEndMs } });
  }

  #put(call: OpenExecution): void {
    const { decisionId, tool } = call;
    this.#calls.set(decisionId, call);
    if (!call.isRead) addTo(this.#writes, keyOf(call), call);
    if (isHeld(call)) {
      removeFrom(this.#free, tool, decisionId);
      this.#claimed.set(decisionId, call);
    } else {
      this.#claimed.delete(decisionId);
      addTo(this.#free, tool, call);
    }
  }
}

/** Whether a worker has the call now. */
export function isHeld({ claim }: OpenExecution): boolean {
  return claim !== null && claim.leaseSeconds > 0;
}

function isSame({ claim: held }: OpenExecution, claim: WorkerClaim): boolean {
  // A claim that was given back does not come back to life.
  return held?.id === claim.id && held.leaseSeconds > 0;
}

function isTakenOver({ claim: held }: OpenExecution, claim: WorkerClaim): boolean {
  return held !== null && held.leaseSeconds === 0 && claim.after === held.id;
}

function keyOf({ tenantId, conversationId }: OpenExecution): string {
  return conversationKey(tenantId, conversationId);
}

type Index = Map<string, Map<string, OpenExecution>>;

function addTo(index: Index, key: string, call: OpenExecution): void {
  const calls = index.get(key) ?? new Map<string, OpenExecution>();
  calls.set(call.decisionId, call);
  index.set(key, calls);
}

function removeFrom(index: Index, key: string, decisionId: string): void {
  const calls = index.get(key);
  calls?.delete(decisionId);
  if (calls?.size === 0) index.delete(key);
}
