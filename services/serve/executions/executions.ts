/**
 * Lets workers claim allowed calls over HTTP (docs/executor-protocol.md).
 *
 * EXECUTIONS-1 a worker hears of a call only once its claim holds it in the journal.
 * EXECUTIONS-2 a claim whose lease is over is reported `unknown`; nobody else gets its call.
 * EXECUTIONS-3 a claim that nobody heard of is given back.
 */
import type { Decision } from "../../client/api/gate-types.ts";
import type { CallReport } from "../../client/inputs/report.ts";
import { isDecision } from "../../client/journal/recent-calls.ts";
import { RecentMap } from "../../client/journal/recent-map.ts";
import { readJournalRecord } from "../../client/journal/search-journal.ts";
import type { JsonObject } from "../../core/canonical/json-value.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import { maySee, type Principal } from "../access/principal.ts";
import { Problem } from "../http/problem.ts";
import type { JournalTail } from "../journal/journal-tail.ts";
import { readOn } from "../journal/read-on.ts";
import type { ServedGate } from "../served-gate.ts";
import { isHeld, type OpenExecution, OpenExecutions } from "./open-executions.ts";
import { WaitingWorkers } from "./waiting-workers.ts";
import { claimText, executionIdOf, newClaimId, type WorkerClaim } from "./worker-claim.ts";

/** No call is begun later than a day after its decision. */
const LOOK_BACK_MS = 25 * 60 * 60 * 1_000;
const OPEN_MAX = 20_000;
const TOOLS_MAX = 10_000;
const ABANDONED_MAX = 10_000;
const SWEEP_MS = 500;
/** The log's clock may differ from ours by so much. */
const CLOCKS_DIFFER_MS = 1_000;
const REPORTS_MAX = 200;
const MS_PER_SECOND = 1_000;

export type ClaimRequest = {
  /** The worker's name for itself. */
  readonly worker: string;
  readonly tools: readonly string[];
  readonly max: number;
  /** Seconds. */
  readonly wait: number;
  readonly leaseSeconds: number;
};

/** A call that the worker must run now, and report. */
export type Execution = {
  readonly executionId: string;
  readonly decisionId: string;
  readonly callId: string;
  readonly conversationId: string;
  readonly tenantId: string;
  readonly tool: string;
  readonly isRead: boolean;
  readonly arguments: JsonObject;
  readonly idempotencyKey: string;
  readonly notAfter: number;
  readonly timeLimitMs: number;
  readonly leaseExpiresAt: number;
};

export type ExecutionsParts = {
  readonly served: ServedGate;
  readonly tail: JournalTail;
  /** Aborts when the server ends. */
  readonly ending: AbortSignal;
  /** Absent: 20,000 calls. */
  readonly openMax?: number;
};

export class Executions {
  readonly #parts: ExecutionsParts;
  readonly #openMax: number;
  readonly #open: OpenExecutions;
  #starting: Promise<void> | undefined;
  /** Tools that workers have named: their writes run in order. */
  readonly #tools = new RecentMap<true>(TOOLS_MAX);
  /** Decisions that are being claimed here. */
  readonly #claiming = new Set<string>();
  /** Claims that got no answer: nobody has heard of them. */
  readonly #abandoned = new RecentMap<true>(ABANDONED_MAX);
  /** Decisions whose end is being reported here. */
  readonly #reporting = new Set<string>();
  readonly #workers = new WaitingWorkers();
  #sweeping: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(parts: ExecutionsParts) {
    this.#parts = parts;
    this.#openMax = parts.openMax ?? OPEN_MAX;
    this.#open = new OpenExecutions(this.#openMax);
  }

  /** The call, if it has not ended. Call `ready` before. */
  get(decisionId: string): OpenExecution | undefined {
    return this.#open.get(decisionId);
  }

  /** Resolves when all open calls of the journal are known. @throws CallgateError */
  async ready(): Promise<void> {
    this.#starting ??= this.#start();
    try {
      await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  /**
   * Claims calls for a worker; waits for the first one as long as the request says. Empty: there was
   * none.
   *
   * @param gone aborts when the worker no longer waits for the answer.
   * @throws CallgateError, Problem
   */
  async claim(
    principal: Principal,
    request: ClaimRequest,
    gone: AbortSignal,
  ): Promise<readonly Execution[]> {
    for (const tool of request.tools) this.#tools.set(tool, true);
    const { ending } = this.#parts;
    const wait = this.#workers.begin(request.tools, request.wait * MS_PER_SECOND, [gone, ending]);
    try {
      if (!(await wait.until(this.ready()))) return [];
      while (!gone.aborted && !ending.aborted) {
        const chosen = this.#choose(principal, request);
        const executions = await this.#claimAll(chosen, request, gone);
        if (executions.length > 0) return executions;
        // Other workers were faster: there may be more.
        if (chosen.length > 0) continue;
        if (!(await wait.change())) return [];
      }
      return [];
    } finally {
      wait.end();
    }
  }

  /** Gives a call back that its worker has not begun. @throws CallgateError */
  async giveBack({ decisionId }: OpenExecution, claim: WorkerClaim): Promise<void> {
    await this.#write(decisionId, { ...claim, leaseSeconds: 0 });
  }

  /** Renews the lease of a claim, which ends so many seconds from now. @throws CallgateError */
  async renew(
    { decisionId }: OpenExecution,
    claim: WorkerClaim,
    leaseSeconds: number,
  ): Promise<void> {
    await this.#write(decisionId, { ...claim, leaseSeconds });
  }

  /** The journal, not the answer, says who holds the call (OPEN-EXECUTIONS-1). */
  async #write(decisionId: string, claim: WorkerClaim): Promise<void> {
    const { client } = this.#parts.served;
    await client.claim(decisionId, claimText(claim), client.timeFor(decisionId));
  }

  async #start(): Promise<void> {
    const { tail, served, ending } = this.#parts;
    await tail.follow();
    const sinceMs = served.clock.nowMs() - LOOK_BACK_MS;
    const offsets = new Map<number, number>();
    for (let partition = 0; partition < tail.partitions; partition += 1) {
      offsets.set(partition, await tail.offsetAt(partition, sinceMs));
    }
    await this.#read(this.#open, offsets);
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    ending.addEventListener("abort", () => clearInterval(this.#sweeping), { once: true });
  }

  /**
   * Reads the journal into the calls from these offsets, by partition, and follows it from then on.
   *
   * @returns a function that ends that.
   */
  async #read(open: OpenExecutions, offsets: ReadonlyMap<number, number>): Promise<() => void> {
    const stops: (() => void)[] = [];
    const stop = (): void => {
      for (const one of stops) one();
    };
    try {
      for (const [partition, offset] of offsets) {
        const learn = (records: readonly CommittedRecord[]) =>
          this.#learn(open, records, partition);
        stops.push(await readOn(this.#parts.tail, { partition, offset }, learn));
      }
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
  }

  #learn(open: OpenExecutions, records: readonly CommittedRecord[], partition: number): void {
    for (const record of records) open.learn(record, partition);
    if (open === this.#open) this.#workers.wake(open);
  }

  /** Calls that the worker may run now, the oldest first; they are reserved until `#claimAll`. */
  #choose(principal: Principal, { tools, max }: ClaimRequest): readonly OpenExecution[] {
    const nowMs = this.#parts.served.clock.nowMs();
    const isOurs = (tool: string): boolean => this.#tools.get(tool) === true;
    const calls: OpenExecution[] = [];
    for (const tool of new Set(tools)) {
      let left = max;
      for (const call of this.#open.free(tool)) {
        if (left === 0) break;
        if (this.#claiming.has(call.decisionId) || nowMs > call.notAfterMs) continue;
        if (!maySee(principal, call) || this.#open.isBlocked(call, isOurs, nowMs)) continue;
        calls.push(call);
        left -= 1;
      }
    }
    calls.sort((a, b) => a.allowedMs - b.allowedMs || a.position.offset - b.position.offset);
    const chosen = calls.slice(0, max);
    for (const { decisionId } of chosen) this.#claiming.add(decisionId);
    return chosen;
  }

  /** @throws the first error, if no call was claimed */
  async #claimAll(
    calls: readonly OpenExecution[],
    request: ClaimRequest,
    gone: AbortSignal,
  ): Promise<readonly Execution[]> {
    const settled = await Promise.allSettled(calls.map((call) => this.#claimOne(call, request)));
    for (const { decisionId } of calls) this.#claiming.delete(decisionId);
    const executions = settled.flatMap((one) =>
      one.status === "fulfilled" && one.value !== null ? [one.value] : [],
    );
    if (gone.aborted) {
      // EXECUTIONS-3
      for (const { decisionId } of executions) {
        this.#abandoned.set(this.#open.get(decisionId)?.claim?.id ?? "", true);
        this.#giveBackUnheard(decisionId);
      }
      return [];
    }
    const failed = settled.find((one) => one.status === "rejected");
    if (executions.length === 0 && failed !== undefined) throw failed.reason;
    return executions;
  }

  /** Null: somebody else has the call, or it is too late. */
  async #claimOne(call: OpenExecution, request: ClaimRequest): Promise<Execution | null> {
    const { client, clock } = this.#parts.served;
    const { decisionId, notAfterMs } = call;
    const decision = await this.#runnable(call);
    if (decision === null || clock.nowMs() > notAfterMs) return null;
    const { worker, leaseSeconds } = request;
    const claim = { id: newClaimId(), after: call.claim?.id ?? null, leaseSeconds, worker };
    try {
      await this.#write(decisionId, claim);
    } catch (error) {
      this.#abandoned.set(claim.id, true);
      throw error;
    }
    // EXECUTIONS-1
    const held = this.#open.get(decisionId);
    if (held?.claim?.id !== claim.id) return null;
    if (clock.nowMs() <= notAfterMs) return executionOf(held, decision, held.claim.leaseEndMs);
    const error = { code: "too_late", message: "not started in time" };
    await client.report(decisionId, { status: "not_executed", error });
    return null;
  }

  /** The decision with key and arguments; null: retention has deleted it. @throws Problem */
  async #runnable({ decisionId, position, tool }: OpenExecution): Promise<Decision | null> {
    const { client, link } = this.#parts.served;
    const record = await readJournalRecord(link, position);
    const event = record?.events.find((one) => isDecision(one) && one.decisionId === decisionId);
    if (!isDecision(event)) {
      this.#open.drop(decisionId);
      return null;
    }
    const decision = client.show(event, true);
    if (decision.idempotencyKey !== undefined) return decision;
    throw new Problem({
      status: 422,
      code: "secret_missing",
      detail: `the key of a call of \`${tool}\` cannot be derived: the server does not have the gate's secret`,
      remedy: "Set `gate.secret` in the server's configuration",
    });
  }

  #sweep(): void {
    const nowMs = this.#parts.served.clock.nowMs();
    for (const call of this.#open.claimed) this.#sweepClaimed(call, nowMs);
    for (const tool of [...this.#open.freeTools]) {
      for (const call of this.#open.free(tool)) {
        if (nowMs > call.notAfterMs) this.#endLate(call);
      }
    }
    if (this.#open.leftOut.size > 0 && this.#open.size <= this.#openMax / 2) this.#readAgain();
    // What an earlier call held up may have become free by its time.
    this.#workers.wake(this.#open);
  }

  #sweepClaimed(call: OpenExecution, nowMs: number): void {
    const { claim, decisionId } = call;
    if (claim === null) return;
    if (this.#abandoned.get(claim.id) === true) this.#giveBackUnheard(decisionId);
    else if (claim.leaseEndMs + CLOCKS_DIFFER_MS < nowMs) {
      const message = `the worker \`${claim.worker}\` did not renew its lease`;
      this.#report(decisionId, { status: "unknown", error: { code: "lease_over", message } });
    }
  }

  #endLate({ decisionId, claim }: OpenExecution): void {
    if (claim === null) {
      // Nobody can say that nobody ran it: the gate makes it `unknown`.
      this.#open.drop(decisionId);
      return;
    }
    const message = "given back, and not started in time";
    this.#report(decisionId, { status: "not_executed", error: { code: "too_late", message } });
  }

  /** Finds the calls that were left out when too many were open. */
  #readAgain(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    const others = new OpenExecutions(this.#openMax);
    this.#read(others, new Map(this.#open.leftOut))
      .then((stop) => {
        stop();
        this.#open.adopt(others);
        this.#workers.wake(this.#open);
      })
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        this.#parts.served.logger.warn("open calls could not be read again", { message });
      })
      .finally(() => {
        this.#isReading = false;
      });
  }

  /** What fails is tried again by the next sweep. */
  #report(decisionId: string, report: CallReport): void {
    this.#once(decisionId, async () => {
      await this.#parts.served.client.report(decisionId, report);
    });
  }

  #giveBackUnheard(decisionId: string): void {
    this.#once(decisionId, async () => {
      const call = this.#open.get(decisionId);
      if (call?.claim != null && isHeld(call)) await this.giveBack(call, call.claim);
    });
  }

  #once(decisionId: string, write: () => Promise<void>): void {
    if (this.#reporting.has(decisionId) || this.#reporting.size >= REPORTS_MAX) return;
    this.#reporting.add(decisionId);
    write()
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        this.#parts.served.logger.warn("the end of a claim was not written yet", { message });
      })
      .finally(() => this.#reporting.delete(decisionId));
  }
}

function executionOf(
  { decisionId, tenantId, conversationId, tool, isRead, claim }: OpenExecution,
  decision: Decision,
  leaseExpiresAt: number,
): Execution {
  return {
    executionId: executionIdOf({ decisionId, claimId: claim?.id ?? "" }),
    ...{ decisionId, callId: decision.callId, conversationId, tenantId, tool, isRead },
    arguments: decision.arguments ?? {},
    idempotencyKey: decision.idempotencyKey ?? "",
    notAfter: decision.notAfter ?? 0,
    timeLimitMs: decision.timeLimitMs ?? 0,
    leaseExpiresAt,
  };
}
