/** Settings of the policy as a whole, with the preset's defaults. */
import { DEFAULT_CANONICAL_LIMITS } from "../canonical/limits.ts";
import type { PatternCapabilities } from "../capabilities.ts";
import type { Money } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { compileAcknowledgement } from "./compile-acknowledgement.ts";
import type { CompileProblem } from "./compile-identity.ts";
import type { BudgetLimit, CompiledPolicy, Ladder } from "./compiled.ts";
import type { BudgetLimits, PolicyDocument, Threshold } from "./document.ts";

const IDEMPOTENCY_TTL_MS = 86_400_000;
const MICRO_UNIT_DIGITS = 6;
const MS_PER_S = 1_000;

const DRIFT = { warn: 5, refuse: 7 };

/** What `strict` allows one turn (docs/policy.md, presets). */
const STRICT_TURN: BudgetLimits = { max_steps: 25, max_tool_calls: 12, max_seconds: 60 };

export function compileSettings(
  document: PolicyDocument,
  capabilities: PatternCapabilities,
  problems: CompileProblem[],
) {
  const { limits, idempotency, budgets, tool_deduplication: byTurn } = document;
  const turn = document.preset === "strict" ? { ...STRICT_TURN, ...budgets } : budgets;
  return {
    canonicalLimits: {
      ...DEFAULT_CANONICAL_LIMITS,
      maxBytes: limits?.arguments_bytes ?? DEFAULT_CANONICAL_LIMITS.maxBytes,
    },
    outputBytes: limits?.output_bytes ?? LIMITS.outputBytesDefault,
    recentCallsMax:
      limits?.recent_calls ?? document.deduplication?.max_history ?? LIMITS.recentCallsDefault,
    ladder: ladderOf(document),
    ...compileAcknowledgement(document, capabilities, problems),
    idempotencyTtlMs: idempotency?.ttl_ms ?? IDEMPOTENCY_TTL_MS,
    retriesAbsent: idempotency?.unknown_outcome === "retry_if_absent",
    idempotencyHeader: idempotency?.header ?? "X-Agent-Idempotency-Key",
    budgets: {
      turn: limitOf(turn),
      conversation: limitOf(budgets?.per_conversation),
      tool: limitOf(budgets?.per_tool),
    },
    countsSpend:
      Object.values(budgets?.by_name ?? {}).some(({ amount }) => amount === undefined) ||
      [turn, budgets?.per_conversation, budgets?.per_tool].some(
        (limits) => limits?.max_spend !== undefined,
      ),
    loops: loopsOf(document),
    appendNote: byTurn?.append_system_note ?? true,
    answersFromRepeat: byTurn?.exact_duplicate_threshold ?? 1,
    unknownTools: (document.unknown_tools ?? "deny") === "deny" ? "deny" : "tier",
  } as const;
}

function limitOf(limits: BudgetLimits | undefined): BudgetLimit {
  const seconds = limits?.max_seconds;
  return {
    maxSteps: limits?.max_steps ?? null,
    maxCalls: limits?.max_tool_calls ?? null,
    maxMs: seconds === undefined ? null : seconds * MS_PER_S,
    maxSpend: limits?.max_spend === undefined ? null : moneyOf(limits.max_spend),
  };
}

/** Exact: the amount has at most six digits after the point and nine before it. */
export function moneyOf({ amount, currency }: NonNullable<BudgetLimits["max_spend"]>): Money {
  const [whole = "0", fraction = ""] = amount.split(".");
  return { microUnits: Number(whole + fraction.padEnd(MICRO_UNIT_DIGITS, "0")), currency };
}

function threshold(value: Threshold | undefined, preset: number | null): number | null {
  if (value === undefined) return preset;
  return value === "off" ? null : value;
}

function ladderOf(document: PolicyDocument): Ladder {
  const observed = document.preset === "observe";
  const strict = document.preset === "strict";
  const written = document.escalation;
  const [ask, options, userInput] = observed ? [null, null, null] : [1, 2, strict ? 3 : 4];
  const endAt = threshold(written?.end?.at, strict ? 4 : null);
  return {
    ask: threshold(written?.ask, ask),
    options: threshold(written?.options, options),
    userInput: threshold(written?.user_input, userInput),
    end: endAt === null ? null : { at: endAt, lasts: written?.end?.lasts ?? "turn" },
  };
}

function loopsOf(document: PolicyDocument): CompiledPolicy["loops"] {
  const repeat = document.deduplication?.loop_threshold;
  const { cycle_rounds, failure_streak, rotation, failure_run, drift } = document.loops ?? {};
  // Who writes the published threshold gets what was published: a warning and no refusal.
  const onlyWarns = document.tool_deduplication?.no_progress_threshold !== undefined;
  const [minPauseMs, maxPauseMs] = failure_streak?.pause_ms ?? [60_000, 300_000];
  return {
    sameOutput: threshold(repeat?.same_output, 3),
    anyOutput: threshold(repeat?.any_output, null),
    anyPace: threshold(repeat?.any_pace, 8),
    cycleRounds: cycle_rounds ?? 3,
    failureSame: failure_streak?.same ?? 3,
    failureTransient: failure_streak?.transient ?? 5,
    failureTurns: failure_streak?.over_turns ?? 5,
    failurePauseMs: { min: minPauseMs, max: Math.max(minPauseMs, maxPauseMs) },
    noProgress: document.tool_deduplication?.no_progress_threshold ?? 3,
    rotation: { calls: rotation?.calls ?? 24, keys: rotation?.keys ?? 8 },
    drift: {
      warn: drift?.warn ?? DRIFT.warn,
      refuse: threshold(drift?.refuse, onlyWarns ? null : DRIFT.refuse),
    },
    failureRun: { sameTool: failure_run?.same_tool ?? 5, any: failure_run?.any ?? 8 },
  };
}
