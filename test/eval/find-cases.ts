/**
 * Single conversations worth looking at: refusals that did harm, and repeats that ran. The scorer
 * counts; this names. Its definitions are the scorer's, with one exception: whether a call is a write
 * comes from the policy.
 */

import type { ReplayedCall } from "../../services/cli/replay/replay-conversation.ts";
import type { ReplayedConversation } from "../../services/cli/replay/replay-files.ts";
import { type Loop, longestLoop } from "./longest-loop.ts";

export type Pool = "ground truth" | "success" | "severe loop" | "other";

export interface CaseCall {
  readonly index: number;
  readonly tool: string;
  readonly argumentsText: string;
  readonly reason: string;
  readonly why:
    | "no prior call"
    | "changed state"
    | "other output"
    | "doubled write"
    | "loop call"
    | "repeated read";
  /** The reason of the gate's decision, in a few words. */
  readonly because: string;
}

/** Reads that repeat an earlier one with nothing written since, and its output. */
export interface RepeatedReads {
  readonly answered: number;
  readonly run: number;
}

export interface Case {
  readonly kind: "harm" | "miss";
  readonly source: string;
  readonly id: string;
  readonly location: string;
  readonly pool: Pool;
  readonly calls: readonly CaseCall[];
}

interface Row {
  readonly label: string;
  readonly kind?: string;
  readonly source: string;
  readonly outcome: { readonly success?: boolean | null } | null;
  readonly calls: readonly {
    readonly output_hash: string | null;
    readonly output?: string | null;
    readonly turn: unknown;
    readonly step: unknown;
    readonly is_error: boolean | null;
    readonly state_changed?: boolean;
    readonly args: unknown;
  }[];
}

export function findCases(
  source: string,
  replayed: ReplayedConversation,
): { readonly cases: readonly Case[]; readonly reads: RepeatedReads } {
  const row = JSON.parse(replayed.text) as Row;
  const { id } = replayed.conversation;
  const identities = replayed.calls.map(
    ({ call, decision }) => `${call.tool} ${decision.arguments.digest}`,
  );
  const outputs = row.calls.map(({ output_hash }) => output_hash);
  const loop = longestLoop(identities, outputs);
  const common = { source, id, location: replayed.location, pool: poolOf(row, loop) };
  const { harms, misses, reads } = judgeCalls(row, replayed.calls, identities, loop);
  const cases = [
    ...(harms.length > 0 ? [{ ...common, kind: "harm" as const, calls: harms }] : []),
    ...(misses.length > 0 ? [{ ...common, kind: "miss" as const, calls: misses }] : []),
  ];
  return { cases, reads };
}

function poolOf(row: Row, loop: Loop | null): Pool {
  if (loop !== null) return "severe loop";
  if (row.kind === "injection" || row.kind === "under-attack") return "other";
  if (row.label === "ground_truth") return "ground truth";
  return row.outcome?.success === true ? "success" : "other";
}

function judgeCalls(
  row: Row,
  calls: readonly ReplayedCall[],
  identities: readonly string[],
  loop: Loop | null,
) {
  const hasRun = (index: number): boolean => calls[index]?.decision.type === "allowed";
  const history = historyOf(row, identities, hasRun);
  const repeats = history.map((entry, index) => isRepeatedRead(row, calls, index, entry));
  const misses = calls.flatMap((replayed, index): readonly CaseCall[] => {
    const { priorCall, isPriorCallDone } = history[index] as History;
    const why = missOf(row, replayed, loop, isPriorCallDone, repeats[index] === true);
    if (!hasRun(index) || why === null) return [];
    return [{ ...caseCall(replayed, why), because: whyRun(row, calls, index, priorCall) }];
  });
  const harms = calls.flatMap((replayed, index): readonly CaseCall[] => {
    const priorCall = history[index]?.priorCall;
    const why = hasRun(index) ? null : harmOf(row, index, priorCall);
    if (why === null) return [];
    const because = `nothing is known to have changed since #${priorCall ?? "-"}`;
    return [{ ...caseCall(replayed, why), because }];
  });
  const answered = repeats.filter((repeat, index) => repeat && !hasRun(index)).length;
  const all = repeats.filter((repeat) => repeat).length;
  return { harms, misses, reads: { answered, run: all - answered } };
}

interface History {
  /** The latest earlier call of the same tool and arguments. */
  readonly priorCall: number | undefined;
  /** The latest prior call that ran; memory has its output. */
  readonly priorCallRun: number | undefined;
  /** Whether one of the prior calls did not fail. */
  readonly isPriorCallDone: boolean;
}

function historyOf(
  row: Row,
  identities: readonly string[],
  hasRun: (index: number) => boolean,
): readonly History[] {
  const priorCalls = new Map<string, number>();
  const priorCallsRun = new Map<string, number>();
  const done = new Set<string>();
  return identities.map((identity, index) => {
    const entry = {
      priorCall: priorCalls.get(identity),
      priorCallRun: priorCallsRun.get(identity),
      isPriorCallDone: done.has(identity),
    };
    priorCalls.set(identity, index);
    if (hasRun(index)) priorCallsRun.set(identity, index);
    if (row.calls[index]?.is_error !== true) done.add(identity);
    return entry;
  });
}

function missOf(
  row: Row,
  replayed: ReplayedCall,
  loop: Loop | null,
  isPriorCallDone: boolean,
  isRead: boolean,
): CaseCall["why"] | null {
  const { index } = replayed;
  if (loop !== null && index >= loop.first + loop.period && index <= loop.last) return "loop call";
  if (isDoubled(row, replayed, isPriorCallDone)) return "doubled write";
  return isRead ? "repeated read" : null;
}

/** The cache time in ms, and the length from which recordings cut outputs, in characters. */
const CACHE_MS = 60_000;
const OUTPUT_CUT = 2_000;

/**
 * A read whose prior call did not fail, had the same whole output, with nothing written since, and that still
 * lies within the cache time of the call that ran: an answer from memory does not make it any younger.
 */
function isRepeatedRead(
  row: Row,
  calls: readonly ReplayedCall[],
  index: number,
  { priorCall, priorCallRun }: History,
): boolean {
  const now = row.calls[index];
  if (priorCall === undefined || calls[index]?.decision.policy.isRead !== true) return false;
  const before = row.calls[priorCall];
  const same = before?.output_hash !== null && before?.output_hash === now?.output_hash;
  if (!same || before?.is_error === true || (before?.output?.length ?? 0) >= OUTPUT_CUT)
    return false;
  const atMs = (at: number): number => calls[at]?.decision.times.proposalsAtMs ?? 0;
  if (atMs(index) - atMs(priorCallRun ?? priorCall) >= CACHE_MS) return false;
  // A write of the same step may have come after the prior call.
  const step = `${before?.turn} ${before?.step}`;
  const first = row.calls.findIndex((call) => `${call.turn} ${call.step}` === step);
  return calls
    .slice(Math.min(first, priorCall), index)
    .every(({ decision }) => decision.policy.isRead);
}

/**
 * Why a repeat ran: another write, a failed prior call, or a tool whose equal calls prove nothing.
 */
function whyRun(
  row: Row,
  calls: readonly ReplayedCall[],
  index: number,
  priorCall: number | undefined,
): string {
  if (priorCall === undefined) return "it is the first of its kind";
  if (row.calls[priorCall]?.is_error === true) return `#${priorCall} had failed`;
  const key = calls[index]?.decision.arguments.actionKey;
  const between = calls.slice(priorCall + 1, index);
  const write = between.find(
    ({ decision, index: at }) =>
      decision.type === "allowed" &&
      !decision.policy.isRead &&
      decision.arguments.actionKey !== key &&
      row.calls[at]?.is_error !== true,
  );
  if (write !== undefined) {
    return `#${write.index} ${write.call.tool} ran since and may have changed the same thing`;
  }
  return "the call does not say what it acts on, or what it shows moves by itself";
}

function isDoubled(row: Row, { decision, index }: ReplayedCall, isPriorCallDone: boolean): boolean {
  const args = row.calls[index]?.args ?? {};
  return isPriorCallDone && !decision.policy.isRead && Object.keys(args).length > 0;
}

function harmOf(row: Row, index: number, priorCall: number | undefined): CaseCall["why"] | null {
  const call = row.calls[index];
  if (priorCall === undefined) return "no prior call";
  if (row.label === "ground_truth" && call?.state_changed === true) return "changed state";
  const before = row.calls[priorCall]?.output_hash ?? null;
  const now = call?.output_hash ?? null;
  return before === null || now === null || before === now ? null : "other output";
}

function caseCall(
  { call, index, decision }: ReplayedCall,
  why: CaseCall["why"],
): Omit<CaseCall, "because"> {
  const reason = decision.type === "refused" ? decision.refusal.reason : decision.type;
  return { index, tool: call.tool, argumentsText: call.argumentsText, reason, why };
}

/** Harm is counted in conversations that went well, a miss in runs of models. */
const POOL_RANK: Readonly<Record<Case["kind"], Readonly<Record<Pool, number>>>> = {
  harm: { "ground truth": 0, success: 1, "severe loop": 2, other: 3 },
  miss: { "severe loop": 0, success: 1, other: 2, "ground truth": 3 },
};

/** Sorts counted cases first, then those with the most calls. */
export function worst(cases: readonly Case[], kind: Case["kind"], count: number): readonly Case[] {
  return cases
    .filter((one) => one.kind === kind)
    .sort(
      (a, b) =>
        POOL_RANK[kind][a.pool] - POOL_RANK[kind][b.pool] || b.calls.length - a.calls.length,
    )
    .slice(0, count);
}
