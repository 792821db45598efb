/**
 * Folds rows into numbers: totals, open conversations, baselines of idle ones, and the alerts that
 * follow. Pure except for its own memory: the same rows in the same order give the same numbers,
 * however many are applied at once.
 *
 * A conversation is idle when the clock of its partition, which each row advances, is `idleMs` past
 * its last call or result, or when the gate starts its state afresh. Where no more rows come, the
 * wall clock does the same (`rest`), but after twice the time: inputs that arrived in time may not
 * be decided yet.
 */
import { isReasonCode, REASONS } from "../core/reasons/reasons.ts";
import type { Alert } from "../wire/output-records.ts";
import { type Baseline, extendBaseline, type SpikeOptions, spikeThreshold } from "./baseline.ts";
import {
  addSpend,
  addToConversation,
  type Conversation,
  restoredConversation,
  type SavedConversation,
  startConversation,
} from "./conversation.ts";
import type { DecisionRow } from "./decision-row.ts";
import {
  addToOverload,
  beginOverload,
  isOverloadRow,
  type Overload,
  overloadAlert,
  overloadEndAlert,
  overloadEndsAtMs,
} from "./overload.ts";
import { OpenCostLedger, type OpenCosts, type Owed, OwedSpend, type SpendChange } from "./spend.ts";
import { measuresOf, newSeverity, resolvedAlert, spikeAlert } from "./spikes.ts";
import { ToolLabels } from "./tool-labels.ts";
import { Totals, type TotalsData } from "./totals.ts";

export type FoldOptions = {
  readonly idleMs: number;
  /**
   * Largest number of open conversations on one partition; beyond it the longest idle ones are
   * closed.
   */
  readonly conversationsMax: number;
  /**
   * Largest number of costs on one partition that may be replaced, because their calls have an
   * unknown outcome.
   */
  readonly openCostsMax: number;
  /**
   * Largest number of agents with a baseline; beyond it the ones not seen for longest are dropped.
   */
  readonly baselinesMax: number;
  /** Number of tool names with a label of their own; later names share one. */
  readonly toolsMax: number;
  readonly spikes: SpikeOptions;
};

export type FoldData = {
  readonly totals: TotalsData;
  readonly tools: readonly string[];
  /** Absent in files of earlier versions. */
  readonly owed?: Owed;
  readonly baselines: readonly (readonly [key: string, values: Baseline])[];
  readonly partitions: readonly PartitionData[];
};

export type PartitionData = {
  readonly partition: number;
  /** Offset in the journal to read next. */
  readonly nextOffset: number;
  readonly clockMs: number;
  /** Longest idle first. */
  readonly conversations: readonly SavedConversation[];
  /** Absent in files of earlier versions. */
  readonly costs?: OpenCosts;
  /** Absent: the gate has room for new conversations. */
  readonly overload?: Overload;
};

type PartitionFold = {
  nextOffset: number;
  clockMs: number;
  readonly conversations: Map<string, Conversation>;
  readonly costs: OpenCostLedger;
  overload: Overload | null;
};

export type RaisedAlert = { readonly partition: number; readonly alert: Alert };

const MS_PER_SECOND = 1_000;
const MICRO_UNITS = 1_000_000;

export class DecisionFold {
  readonly #options: FoldOptions;
  readonly #totals: Totals;
  readonly #tools: ToolLabels;
  readonly #owed: OwedSpend;
  readonly #baselines: Map<string, Baseline>;
  readonly #thresholds = new Map<string, number | null>();
  readonly #partitions = new Map<number, PartitionFold>();
  #alerts: RaisedAlert[] = [];

  constructor(options: FoldOptions, data?: FoldData) {
    this.#options = options;
    this.#totals = new Totals(data?.totals);
    this.#tools = new ToolLabels(options.toolsMax, data?.tools);
    this.#owed = new OwedSpend(data?.owed);
    this.#baselines = new Map(data?.baselines);
    for (const { partition, nextOffset, clockMs, ...saved } of data?.partitions ?? []) {
      const { overload = null } = saved;
      const open = saved.conversations.map(
        (one) => [keyOf(one), restoredConversation(one)] as const,
      );
      const costs = new OpenCostLedger(options.openCostsMax, saved.costs);
      const fold = { nextOffset, clockMs, conversations: new Map(open), costs, overload };
      this.#partitions.set(partition, fold);
    }
  }

  nextOffset(partition: number): number {
    return this.#partition(partition).nextOffset;
  }

  get openConversations(): number {
    let count = 0;
    for (const { conversations } of this.#partitions.values()) count += conversations.size;
    return count;
  }

  /**
   * Takes in the rows of records up to `nextOffset`; returns the alerts that were raised or
   * resolved.
   */
  apply(partition: number, rows: readonly DecisionRow[], nextOffset: number): RaisedAlert[] {
    const fold = this.#partition(partition);
    this.#alerts = [];
    for (const row of rows) this.#row(partition, fold, row);
    fold.nextOffset = Math.max(fold.nextOffset, nextOffset);
    return this.#alerts;
  }

  /**
   * To be called when a partition was read to its end: closes the conversations that the next row
   * would close, with the same numbers. Only a conversation whose next call stayed undecided for
   * longer than `idleMs` is counted as two.
   *
   * @returns resolved alerts; null: no conversation was closed
   */
  rest(partition: number, nowMs: number): RaisedAlert[] | null {
    const fold = this.#partition(partition);
    const before = fold.conversations.size;
    this.#alerts = [];
    this.#closeIdle(partition, fold, nowMs - this.#options.idleMs);
    this.#endOverload(partition, fold, nowMs - this.#options.idleMs);
    const isChanged = fold.conversations.size !== before || this.#alerts.length > 0;
    return isChanged ? this.#alerts : null;
  }

  /** Counts records that can no longer be read. */
  skip(partition: number, toOffset: number): void {
    const fold = this.#partition(partition);
    this.#totals.add("analytics_skipped_total", {}, toOffset - fold.nextOffset);
    fold.nextOffset = toOffset;
  }

  data(): FoldData {
    return {
      totals: this.#totals.data(),
      tools: this.#tools.data(),
      owed: this.#owed.data(),
      baselines: [...this.#baselines],
      partitions: [...this.#partitions].map(([partition, fold]) => ({
        ...{ partition, nextOffset: fold.nextOffset, clockMs: fold.clockMs },
        conversations: [...fold.conversations.values()],
        costs: fold.costs.data(),
        ...(fold.overload === null ? {} : { overload: fold.overload }),
      })),
    };
  }

  #partition(partition: number): PartitionFold {
    const existing = this.#partitions.get(partition);
    if (existing !== undefined) return existing;
    const costs = new OpenCostLedger(this.#options.openCostsMax);
    const conversations = new Map<string, Conversation>();
    const fold = { nextOffset: 0, clockMs: 0, conversations, costs, overload: null };
    this.#partitions.set(partition, fold);
    return fold;
  }

  #row(partition: number, fold: PartitionFold, row: DecisionRow): void {
    const spent = fold.costs.take(row);
    this.#count(row, spent);
    fold.clockMs = Math.max(fold.clockMs, row.at_ms);
    this.#closeIdle(partition, fold, fold.clockMs);
    this.#endOverload(partition, fold, fold.clockMs);
    if (isOverloadRow(row)) this.#addOverload(partition, fold, row);
    const key = `${row.tenant_id}/${row.conversation_id}`;
    if (!keepsGoing(row)) {
      const open = fold.conversations.get(key);
      if (open !== undefined) addSpend(open, spent);
      return;
    }
    const conversation = this.#goingOn(partition, fold, key, row) ?? startConversation(row);
    addToConversation(conversation, row);
    addSpend(conversation, spent);
    fold.conversations.delete(key);
    fold.conversations.set(key, conversation);
    this.#judge(partition, conversation, row);
    this.#closeBeyondMax(partition, fold);
  }

  #goingOn(
    partition: number,
    fold: PartitionFold,
    key: string,
    row: DecisionRow,
  ): Conversation | undefined {
    const conversation = fold.conversations.get(key);
    if (conversation === undefined) return undefined;
    const atRestMs = conversation.lastAtMs + this.#options.idleMs;
    if (row.fresh !== true && atRestMs > fold.clockMs) return conversation;
    this.#close(partition, conversation, Math.min(atRestMs, row.at_ms));
    return undefined;
  }

  #count(row: DecisionRow, spent: readonly SpendChange[]): void {
    switch (row.kind) {
      case "allowed":
      case "refused":
      case "held":
        this.#countDecision(row, this.#tools.of(row));
        return;
      case "repeated":
        this.#totals.add("redeliveries_total", {});
        return;
      case "result":
        this.#countResult(row.status ?? "", this.#tools.of(row), spent);
        return;
      case "unknown":
        // The gate's own statement. It makes it once, and journals no report of the same as a
        // result after it.
        this.#countResult("unknown", this.#tools.of(row), spent);
        return;
      case "dead_letter":
        this.#totals.add("analytics_dead_letters_total", { code: row.detail ?? "" });
        return;
      case "reconciled":
        this.#countSpend(this.#tools.of(row), spent);
        return;
      case "ruled":
      case "ignored":
        return;
    }
  }

  #countResult(status: string, tool: string, spent: readonly SpendChange[]): void {
    this.#totals.add("call_results_total", { status, tool });
    this.#countSpend(tool, spent);
  }

  #countSpend(tool: string, spent: readonly SpendChange[]): void {
    for (const change of spent) {
      const amount = this.#owed.rise(tool, change) / MICRO_UNITS;
      this.#totals.add("spend_total", { currency: change.currency, tool }, amount);
    }
  }

  #countDecision(row: DecisionRow, tool: string): void {
    const reason = row.reason ?? "";
    const tier = row.tier ?? "";
    this.#totals.add("analytics_decisions_total", { outcome: row.kind, reason, tool, tier });
    if (row.kind === "refused" && isReasonCode(reason) && REASONS[reason].group === "repeat") {
      this.#totals.add("repeats_stopped_total", { reason, tool });
    }
    if (row.grant_tier !== null) this.#totals.add("grant_calls_total", { tier: row.grant_tier });
    // A tier that has granted calls holds one only where the grant does not cover it.
    const isOverGrant = row.kind === "held" && this.#totals.has("grant_calls_total", { tier });
    if (reason === "grant_exceeded" || isOverGrant) {
      this.#totals.add("grants_exhausted_total", { tier });
    }
    if (row.latency_ms !== null) {
      const seconds = row.latency_ms / MS_PER_SECOND;
      this.#totals.observe("decision_latency_seconds", { outcome: row.kind }, seconds);
    }
  }

  #judge(partition: number, conversation: Conversation, row: DecisionRow): void {
    for (const { name, metric, value } of measuresOf(conversation)) {
      const threshold = this.#threshold(conversation, name, metric);
      if (threshold === null) continue;
      const severity = newSeverity(conversation, { name, value, threshold });
      if (severity === null) continue;
      const spike = { name, metric, value, threshold, severity, atMs: row.at_ms };
      const alert = spikeAlert(conversation, spike);
      conversation.alerts.push({ name, severity, alertId: alert.alertId });
      this.#raise(partition, alert);
    }
  }

  #raise(partition: number, alert: Alert): void {
    if (alert.resolvedAtMs === null) {
      this.#totals.add("alerts_total", { kind: alert.kind, severity: alert.severity });
    }
    this.#alerts.push({ partition, alert });
  }

  #threshold(
    conversation: Conversation,
    name: string,
    metric: Parameters<typeof spikeThreshold>[1],
  ): number | null {
    const key = baselineKey(conversation, name);
    const cached = this.#thresholds.get(key);
    if (cached !== undefined) return cached;
    const { spikes } = this.#options;
    const threshold = spikeThreshold(this.#baselines.get(key) ?? [], metric, spikes);
    this.#thresholds.set(key, threshold);
    return threshold;
  }

  #addOverload(partition: number, fold: PartitionFold, row: DecisionRow): void {
    if (fold.overload !== null) {
      fold.overload = addToOverload(fold.overload, row);
      return;
    }
    fold.overload = beginOverload(partition, row);
    this.#raise(partition, overloadAlert(fold.overload));
  }

  #endOverload(partition: number, fold: PartitionFold, atMs: number): void {
    const { overload } = fold;
    if (overload === null || overloadEndsAtMs(overload) > atMs) return;
    fold.overload = null;
    this.#raise(partition, overloadEndAlert(overload));
  }

  #closeIdle(partition: number, fold: PartitionFold, atMs: number): void {
    for (const [key, conversation] of fold.conversations) {
      const atRestMs = conversation.lastAtMs + this.#options.idleMs;
      if (atRestMs > atMs) return;
      fold.conversations.delete(key);
      // Not the time at which that was noticed: so rows and wall clock give the same result.
      this.#close(partition, conversation, atRestMs);
    }
  }

  #closeBeyondMax(partition: number, fold: PartitionFold): void {
    for (const [key, conversation] of fold.conversations) {
      if (fold.conversations.size <= this.#options.conversationsMax) return;
      fold.conversations.delete(key);
      this.#close(partition, conversation, fold.clockMs);
    }
  }

  #close(partition: number, conversation: Conversation, atMs: number): void {
    const { calls, steps, firstAtMs, lastAtMs } = conversation;
    const durationSeconds = (lastAtMs - firstAtMs) / MS_PER_SECOND;
    this.#totals.observe("conversation_tool_calls", {}, calls);
    this.#totals.observe("conversation_steps", {}, steps);
    this.#totals.observe("conversation_duration_seconds", {}, durationSeconds);
    for (const { name, metric, value } of measuresOf(conversation)) {
      this.#learn(baselineKey(conversation, name), value);
      for (const { name: about, alertId } of conversation.alerts) {
        if (about !== name) continue;
        this.#raise(partition, resolvedAlert(conversation, { name, metric, value, alertId, atMs }));
      }
    }
  }

  #learn(key: string, value: number): void {
    const { spikes, baselinesMax } = this.#options;
    const baseline = extendBaseline(this.#baselines.get(key) ?? [], value, spikes);
    this.#thresholds.delete(key);
    this.#baselines.delete(key);
    this.#baselines.set(key, baseline);
    for (const oldest of this.#baselines.keys()) {
      if (this.#baselines.size <= baselinesMax) return;
      this.#baselines.delete(oldest);
      this.#thresholds.delete(oldest);
    }
  }
}

/** Whether the row is a call or a result, which counts for a conversation and keeps it open. */
function keepsGoing({ kind, tenant_id, conversation_id, reason }: DecisionRow): boolean {
  if (tenant_id === null || conversation_id === null) return false;
  // The conversation learns nothing of it, and may not exist.
  if (kind === "refused" && reason !== null && isReasonCode(reason) && REASONS[reason].keepsNoState)
    return false;
  return kind === "allowed" || kind === "refused" || kind === "held" || kind === "result";
}

function keyOf({ tenantId, conversationId }: Pick<Conversation, "tenantId" | "conversationId">) {
  return `${tenantId}/${conversationId}`;
}

function baselineKey({ tenantId, agentId }: Conversation, name: string): string {
  return JSON.stringify([tenantId, agentId, name]);
}
