/** Counts the outcomes of a replay; memory is bounded, however many conversations there are. */

import { reasonOf } from "../output/reason-of.ts";
import type { ReplayedCall } from "./replay-conversation.ts";
import type { ReplayedConversation } from "./replay-files.ts";

export interface Counts {
  readonly calls: number;
  readonly allowed: number;
  /** Refused calls, of which `answered` got their earlier result. */
  readonly refused: number;
  readonly answered: number;
  readonly held: number;
  readonly warned: number;
}

export interface WorstConversation {
  readonly id: string;
  readonly location: string;
  readonly calls: number;
  readonly blocked: number;
  readonly stopped: boolean;
  readonly reasons: Readonly<Record<string, number>>;
}

export interface Summary {
  readonly conversations: number;
  /** Conversations with a refused or held call; those that escalation would stop. */
  readonly blockedConversations: number;
  readonly stoppedConversations: number;
  readonly brokenLines: number;
  readonly total: Counts;
  readonly reasons: readonly { readonly reason: string; readonly calls: number }[];
  readonly tools: readonly (Counts & { readonly tool: string })[];
  /** Conversations with the most refused or held calls first. */
  readonly worst: readonly WorstConversation[];
}

const WORST_MAX = 10;
const TOOLS_MAX = 10_000;
const OTHER_TOOLS = "(other tools)";

type MutableCounts = { -readonly [K in keyof Counts]: Counts[K] };

export class ReplaySummary {
  #conversations = 0;
  #blockedConversations = 0;
  #stoppedConversations = 0;
  #brokenLines = 0;
  readonly #total = noCounts();
  readonly #reasons = new Map<string, number>();
  readonly #tools = new Map<string, MutableCounts>();
  #worst: WorstConversation[] = [];

  add({ conversation, location, calls }: ReplayedConversation): void {
    this.#conversations += 1;
    const reasons: Record<string, number> = {};
    for (const replayed of calls) {
      count(this.#total, replayed);
      count(this.#ofTool(replayed.call.tool), replayed);
      const reason = reasonOf(replayed.decision);
      if (reason === null) continue;
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
    const blocked = Object.values(reasons).reduce((sum, times) => sum + times, 0);
    const stopped = calls.some(({ stop }) => stop);
    if (stopped) this.#stoppedConversations += 1;
    if (blocked === 0) return;
    this.#blockedConversations += 1;
    const { id } = conversation;
    this.#keepWorst({ id, location, calls: calls.length, blocked, stopped, reasons });
  }

  addBrokenLine(): number {
    this.#brokenLines += 1;
    return this.#brokenLines;
  }

  get summary(): Summary {
    return {
      conversations: this.#conversations,
      blockedConversations: this.#blockedConversations,
      stoppedConversations: this.#stoppedConversations,
      brokenLines: this.#brokenLines,
      total: { ...this.#total },
      reasons: [...this.#reasons]
        .map(([reason, calls]) => ({ reason, calls }))
        .sort((a, b) => b.calls - a.calls),
      tools: [...this.#tools]
        .map(([tool, counts]) => ({ tool, ...counts }))
        .sort((a, b) => b.refused + b.held - a.refused - a.held || b.calls - a.calls),
      worst: this.#worst,
    };
  }

  #ofTool(tool: string): MutableCounts {
    const name = this.#tools.has(tool) || this.#tools.size < TOOLS_MAX ? tool : OTHER_TOOLS;
    const existing = this.#tools.get(name);
    if (existing !== undefined) return existing;
    const made = noCounts();
    this.#tools.set(name, made);
    return made;
  }

  #keepWorst(conversation: WorstConversation): void {
    const last = this.#worst.at(-1);
    if (this.#worst.length === WORST_MAX && (last?.blocked ?? 0) >= conversation.blocked) return;
    this.#worst = [...this.#worst, conversation]
      .sort((a, b) => b.blocked - a.blocked)
      .slice(0, WORST_MAX);
  }
}

function noCounts(): MutableCounts {
  return { calls: 0, allowed: 0, refused: 0, answered: 0, held: 0, warned: 0 };
}

function count(counts: MutableCounts, { decision }: ReplayedCall): void {
  counts.calls += 1;
  counts[decision.type] += 1;
  if (decision.type === "refused" && decision.answered !== null) counts.answered += 1;
  if (decision.notices.warnings.length > 0) counts.warned += 1;
}
