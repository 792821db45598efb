/**
 * Single conversations worth looking at: refusals that did harm, and repeats that ran. The scorer
 * counts; this names. Its definitions are the scorer's, with one exception: whether a call is a write
 * comes from the policy.
 */

import type { ReplayedCall } from "../../services/cli/replay/replay-conversation.ts";
import type { ReplayedConversation } from "../../services/cli/replay/replay-files.ts";
import { longestLoop } from "./longest-loop.ts";

export type Pool = "ground truth" | "success" | "other";

export interface CaseCall {
  readonly index: number;
  readonly tool: string;
  readonly argumentsText: string;
  readonly reason: string;
  /** Harm: no twin, a recorded change of state, another output. Miss: doubled write, loop call. */
  readonly why: "no twin" | "changed state" | "other output" | "doubled write" | "loop call";
}

export interface Case {
  readonly kind: "harm" | "miss";
  readonly source: string;
  readonly id: string;
  readonly place: string;
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
    readonly is_error: boolean | null;
    readonly state_changed?: boolean;
    readonly args: unknown;
  }[];
}

export function findCases(source: string, replayed: ReplayedConversation): readonly Case[] {
  const row = JSON.parse(replayed.text) as Row;
  const { id } = replayed.conversation;
  const common = { source, id, place: replayed.place, pool: poolOf(row) };
  const { harms, misses } = judgeCalls(row, replayed.calls);
  return [
    ...(harms.length > 0 ? [{ ...common, kind: "harm" as const, calls: harms }] : []),
    ...(misses.length > 0 ? [{ ...common, kind: "miss" as const, calls: misses }] : []),
  ];
}

function poolOf(row: Row): Pool {
  if (row.kind === "injection" || row.kind === "under-attack") return "other";
  if (row.label === "ground_truth") return "ground truth";
  return row.outcome?.success === true ? "success" : "other";
}

function judgeCalls(row: Row, calls: readonly ReplayedCall[]) {
  const identities = calls.map(({ call, decision }) => `${call.tool} ${decision.argumentsDigest}`);
  const loop = longestLoop(
    identities,
    row.calls.map(({ output_hash }) => output_hash),
  );
  const twins = new Map<string, number>();
  const done = new Set<string>();
  const harms: CaseCall[] = [];
  const misses: CaseCall[] = [];
  calls.forEach((replayed, index) => {
    const identity = identities[index] ?? "";
    const twin = twins.get(identity);
    if (replayed.decision.type === "allowed") {
      const inLoop = loop !== null && index >= loop.first + loop.period && index <= loop.last;
      if (inLoop) misses.push(caseCall(replayed, "loop call"));
      else if (isDoubled(row, replayed, done.has(identity))) {
        misses.push(caseCall(replayed, "doubled write"));
      }
    } else {
      const why = harmOf(row, index, twin);
      if (why !== null) harms.push(caseCall(replayed, why));
    }
    twins.set(identity, index);
    if (row.calls[index]?.is_error !== true) done.add(identity);
  });
  return { harms, misses };
}

function isDoubled(row: Row, { decision, index }: ReplayedCall, twinDone: boolean): boolean {
  const args = row.calls[index]?.args ?? {};
  return twinDone && !decision.isRead && Object.keys(args).length > 0;
}

function harmOf(row: Row, index: number, twin: number | undefined): CaseCall["why"] | null {
  const call = row.calls[index];
  if (twin === undefined) return "no twin";
  if (row.label === "ground_truth" && call?.state_changed === true) return "changed state";
  const before = row.calls[twin]?.output_hash ?? null;
  const now = call?.output_hash ?? null;
  return before === null || now === null || before === now ? null : "other output";
}

function caseCall({ call, index, decision }: ReplayedCall, why: CaseCall["why"]): CaseCall {
  const reason = decision.type === "refused" ? decision.refusal.reason : decision.type;
  return { index, tool: call.tool, argumentsText: call.argumentsText, reason, why };
}

const POOL_RANK: Readonly<Record<Pool, number>> = { "ground truth": 0, success: 1, other: 2 };

/** Those in work that went well first, then those with the most calls. */
export function worst(cases: readonly Case[], kind: Case["kind"], count: number): readonly Case[] {
  return cases
    .filter((found) => found.kind === kind)
    .sort((a, b) => POOL_RANK[a.pool] - POOL_RANK[b.pool] || b.calls.length - a.calls.length)
    .slice(0, count);
}
