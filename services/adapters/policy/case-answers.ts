/** What people say in a case: answers to a held call, and how a call of unknown outcome ended. */
import { z } from "zod";
import { REASON_CODES } from "../../core/reasons/reasons.ts";
import { nearest } from "../config/nearest.ts";

/** One answer to a held call, in the order in which they come. */
export type CaseVerdict = {
  /** `wait`: nobody says anything, and time passes. */
  readonly kind: "approve" | "deny" | "wait";
  readonly by: string;
  readonly reason: string | null;
  /** Time since the call or the answer before, ms. */
  readonly afterMs: number;
  /** What comes of the answer; null: not checked. */
  readonly expect: string | null;
};

/** How a call ended whose outcome was unknown. */
export type CaseReconciliation = {
  /** Its number in the case, from 1. */
  readonly call: number;
  readonly outcome: "succeeded" | "failed" | "not_executed";
  readonly by: string;
  readonly reason: string | null;
};

const UNIT_MS = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^([0-9]{1,9})(ms|s|min|h|d)$/;
const TIME_REMEDY = "write it as 500ms, 30s, 5min, 2h or 1d";

export const caseDuration = z
  .string({ error: `must be a time\n${TIME_REMEDY}` })
  .regex(DURATION, { error: `is not a time\n${TIME_REMEDY}` });

export function durationMs(written: string): number {
  const [, count, unit] = DURATION.exec(written) ?? [];
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** An answer that decides nothing yet, or nothing at all (`IgnoredWhy`). */
const UNDECIDED = [
  "waits",
  "reason_required",
  "self_approval",
  "already_decided",
  "unknown_approval",
] as const;
const ANSWER_WORDS = [...UNDECIDED, "allowed", "refused", "held", ...REASON_CODES] as const;

const answer = z.strictObject({
  kind: z.enum(["approve", "deny", "wait"]),
  by: z.exactOptional(z.string().min(1)),
  reason: z.exactOptional(z.string()),
  after: z.exactOptional(caseDuration),
  expect: z.exactOptional(
    z.enum(ANSWER_WORDS, { error: notOf("what comes of an answer", ANSWER_WORDS) }),
  ),
});

/** A word, a map, or a list of maps in the order in which people answer. */
export const caseVerdict = z.union([z.enum(["approve", "deny"]), answer, z.array(answer).min(1)]);

const reconciliation = z.strictObject({
  call: z.int().min(1),
  outcome: z.enum(["succeeded", "failed", "not_executed"]),
  by: z.exactOptional(z.string().min(1)),
  reason: z.exactOptional(z.string()),
});

export const caseReconciliations = z.union([reconciliation, z.array(reconciliation).min(1)]);

export const VERDICT_KEYS = Object.keys(answer.shape);
export const RECONCILIATION_KEYS = Object.keys(reconciliation.shape);

const BY_DEFAULT = "a person";

export function readVerdicts(
  written: z.infer<typeof caseVerdict> | undefined,
): readonly CaseVerdict[] {
  if (written === undefined) return [];
  if (typeof written === "string") {
    const said = { by: BY_DEFAULT, reason: "as the case says" };
    return [{ kind: written, ...said, afterMs: 0, expect: null }];
  }
  return [written].flat().map(({ kind, by, reason, after, expect }) => ({
    kind,
    by: by ?? BY_DEFAULT,
    reason: reason ?? null,
    afterMs: after === undefined ? 0 : durationMs(after),
    expect: expect ?? null,
  }));
}

export function readReconciliations(
  written: z.infer<typeof caseReconciliations> | undefined,
): readonly CaseReconciliation[] {
  return [written ?? []].flat().map(({ call, outcome, by, reason }) => ({
    call,
    outcome,
    by: by ?? BY_DEFAULT,
    reason: reason ?? null,
  }));
}

/** The words are too many to list in a message. */
export function notOf(what: string, words: readonly string[]) {
  return ({ input }: { readonly input?: unknown }): string => {
    const meant = typeof input === "string" ? nearest(input, words) : null;
    const remedy =
      meant === null ? "see docs/engine.md for all of them" : `did you mean \`${meant}\`?`;
    return `must be ${what}, not \`${String(input)}\`\n${remedy}`;
  };
}
