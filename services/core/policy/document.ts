/**
 * The policy document after loading: what an author wrote, with the two positions of a block (top
 * level and `policy_engine:`) and all merged files folded into one plain object. Keys keep the
 * author's spelling; an absent key was not written, so the preset decides. Nothing in here is
 * compiled: patterns, templates and JSON Schemas are still text and data. The whole vocabulary is
 * described; the loader refuses the parts that no check implements.
 *
 * Paths. A value of the document is named by a path of the normalized document, as `policyPath`
 * prints it: `tool_schemas.charge_card.effects[0]`, `authorization.tiers[2].pattern`. A decision's
 * `rule` and a compile problem both carry such a path; `PolicySource` finds the line behind it.
 */

import type { RuleText } from "../../commands/rules/rule.ts";
import type { JsonValue } from "../canonical/json-value.ts";
import type { OnFailure } from "../events.ts";

/** One place in a policy file; line and column count from 1. */
export type PolicyPosition = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Path of the value found there: the one asked for, or its nearest written ancestor. */
  readonly path: string;
};

/** Finds where a value of the document was written. */
export type PolicySource = {
  /**
   * The value at `path`, else its nearest written ancestor, in the end the document itself (path
   * ""). Null where the policy was handed over as an object and has no lines.
   */
  readonly locate: (path: string) => PolicyPosition | null;
};

/** `20/min` as `{ count: 20, windowMs: 60000 }`. */
export type Rate = {
  readonly count: number;
  readonly windowMs: number;
};

export type PolicyPreset = "observe" | "balanced" | "strict";
type CheckMode = "enforce" | "warn" | "shadow" | "off";
/** Reason code to mode. Codes are those of the closed reason list. */
export type CheckModes = Readonly<Record<string, CheckMode>>;
type IdentityScope = "turn" | "conversation";
/** A count of calls or strikes, or switched off. */
export type Threshold = number | "off";

type DeduplicationBlock = {
  readonly window_ms?: number;
  readonly strategy?: "semantic_hash" | "byte_hash";
  /** Written as a plain number, both fields hold it. */
  readonly loop_threshold?: LoopThreshold;
  readonly cache_ttl_ms?: number;
  readonly scope?: IdentityScope;
  /** The ring of recent calls; the same thing as `limits.ring`, and never written beside it. */
  readonly max_history?: number;
};

type LoopThreshold = {
  readonly same_output?: Threshold;
  readonly any_output?: Threshold;
};

type ToolDeduplicationBlock = {
  readonly enabled?: boolean;
  readonly exact_duplicate_threshold?: number;
  readonly no_progress_threshold?: number;
  readonly append_system_note?: boolean;
};

type IdempotencyBlock = {
  readonly generation?: "content_based";
  readonly header?: "X-Agent-Idempotency-Key";
  readonly ttl_ms?: number;
};

export type BudgetLimits = {
  readonly max_steps?: number;
  readonly max_tool_calls?: number;
  readonly max_seconds?: number;
  readonly max_spend?: { readonly amount: string; readonly currency: string };
};

/** The limits written directly hold per turn; `per_tool` holds for each tool by itself, per turn. */
type BudgetsBlock = BudgetLimits & {
  readonly per_conversation?: BudgetLimits;
  readonly per_tool?: BudgetLimits;
};

type RetriesBlock = {
  readonly max_attempts?: number;
  readonly retryable_status?: readonly number[];
  readonly backoff_ms?: readonly [min: number, max: number];
};

/** Defaults for all tools. `retries` written at top level is found here. */
type ToolsBlock = {
  readonly dedupe_window_s?: number;
  readonly cache_ttl_s?: number;
  readonly retries?: RetriesBlock;
};

/** The strike at which each rung is reached. */
export type EscalationBlock = {
  readonly ask?: Threshold;
  readonly options?: Threshold;
  readonly user_input?: Threshold;
  /** Written as a plain number or `off`, `lasts` is `turn`. */
  readonly end?: { readonly at: Threshold; readonly lasts: "turn" | "conversation" };
};

type AcknowledgementBlock = {
  readonly mode?: "off" | "implicit" | "explicit";
  readonly patterns?: readonly string[];
  readonly unless?: readonly string[];
};

type TierBase = {
  readonly name: string;
  /** Anchored globs separated by `|`. */
  readonly pattern: string;
};

type AllowlistTier = TierBase & {
  readonly action: "allowlist";
  readonly rate_limit?: Rate;
};

type GrantTier = TierBase & {
  readonly action: "per_conversation_grant";
  readonly ceiling: number;
  readonly ttl_ms?: number;
  readonly granted_by?: "policy" | "verdict";
  readonly on_exceeded?: "refuse" | "hitl";
};

export type HitlTier = TierBase & {
  readonly action: "hitl";
  readonly require_reason?: boolean;
  readonly expires_ms?: number;
  readonly approvals?: number;
};

type DenyTier = TierBase & {
  readonly action: "deny";
};

export type PolicyTier = AllowlistTier | GrantTier | HitlTier | DenyTier;

type AuthorizationBlock = {
  readonly tiers?: readonly PolicyTier[];
};

export type RiskLevel = "LOW" | "MEDIUM" | "HIGH";

export type EffectKind =
  | "create"
  | "update"
  | "delete"
  | "charge"
  | "transfer"
  | "send"
  | "read"
  | "custom";

export type DeclaredEffect = {
  /** Template with `{argument}` placeholders, segments separated by `/`. */
  readonly resource: string;
  readonly kind: EffectKind;
  /** Absent: create, charge, transfer, delete and send are exclusive, the others are not. */
  readonly exclusive?: boolean;
  /** Absent: `conflict` for charge, transfer and send, else `warn`. */
  readonly on_failure?: OnFailure;
};

/** `minor_units(currency)` as `{ name: "minor_units", arguments: ["currency"] }`. */
export type NormalizerCall = {
  readonly name: string;
  readonly arguments: readonly string[];
};

type SimilarityField = {
  readonly field: string;
  readonly threshold: number;
  readonly with?: readonly string[];
};

export type PollingLimits = {
  readonly min_interval_ms?: number;
  readonly max_calls?: number;
};

export type ToolDocument = {
  readonly risk_level?: RiskLevel;
  readonly canonical_fields?: readonly string[];
  /** Argument path to its chain, applied left to right; a single name is a chain of one. */
  readonly normalizers?: Readonly<Record<string, readonly NormalizerCall[]>>;
  /** Shorthand for one exclusive effect whose identity is the canonical fields. */
  readonly side_effect_resource?: string;
  /** JSON Schema 2020-12 of the arguments, as written. */
  readonly input_schema?: { readonly [keyword: string]: JsonValue };
  readonly effects?: readonly DeclaredEffect[];
  readonly suggest?: readonly string[];
  readonly sensitive?: readonly string[];
  readonly read_only?: boolean;
  /** Resource templates whose writers make an earlier answer stale. */
  readonly reads?: readonly string[];
  readonly polling?: PollingLimits;
  readonly volatile?: boolean;
  /** JSON paths (`$.took_ms`) left out of the output digest. */
  readonly volatile_output?: readonly string[];
  /** Regular expressions that turn a successful output into a failed one. */
  readonly error_patterns?: readonly string[];
  readonly similarity?: readonly SimilarityField[];
  readonly dedupe_window_s?: number;
  readonly cache_ttl_s?: number;
  readonly retries?: RetriesBlock;
  readonly scope?: IdentityScope;
  readonly checks?: CheckModes;
  readonly repeatable?: boolean;
  readonly batchable?: boolean;
  readonly frequency?: Rate;
  readonly time_limit_ms?: number;
  readonly start_within_ms?: number;
  readonly idempotency_argument?: string;
  readonly empty_output?: boolean;
  /** Of a meta tool: what a call does depends on a name in an argument. */
  readonly variants?: VariantsDocument;
  /** Of a shell, a database, an HTTP client or a file tool: what a call does is read from its argument. */
  readonly commands?: CommandsDocument;
};

/** What a rule of `variants` or `commands` may say in place of the tool's own entry. */
export type VariantKeys = Pick<
  ToolDocument,
  | "read_only"
  | "risk_level"
  | "effects"
  | "side_effect_resource"
  | "reads"
  | "volatile"
  | "repeatable"
  | "batchable"
  | "canonical_fields"
  | "normalizers"
  | "dedupe_window_s"
  | "cache_ttl_s"
  | "scope"
  | "checks"
  | "suggest"
> & {
  /** Name of the tier that applies, in place of the one that the tool's name matches. */
  readonly tier?: string;
};

export type VariantRule = VariantKeys & {
  /** Regular expression, found anywhere in the argument. */
  readonly match?: string;
  /** The whole argument, as it is. */
  readonly equals?: readonly string[];
  /** Anchored globs separated by `|`. */
  readonly like?: string;
};

export type VariantsDocument = {
  readonly argument?: string;
  readonly rules?: readonly VariantRule[];
  readonly otherwise?: VariantKeys;
};

/** What a rule is about (`services/commands/rules`), and what it says of that. */
export type CommandRule = VariantKeys &
  RuleText & {
    /** One clause for whoever is refused or asked. */
    readonly why?: string;
  };

export type CommandLanguage = "shell" | "git" | "sql" | "http" | "files";

export type CommandsDocument = {
  readonly language?: CommandLanguage;
  readonly argument?: string;
  readonly workspace?: string;
  readonly readable?: readonly string[];
  readonly secrets?: readonly string[];
  /** Variables that a line may set for a command. */
  readonly assignments?: readonly string[];
  /** Lines share one shell. Default true. */
  readonly session?: boolean;
  /** Of `sql`: functions that change nothing, beside the built-in list. */
  readonly functions?: readonly string[];
  readonly rules?: readonly CommandRule[];
  /** Name of the tier of what is not understood, and of what no rule names. */
  readonly unclear?: string;
  readonly examples?: Readonly<Partial<Record<"allowed" | "held" | "denied", readonly string[]>>>;
};

type KillBlock = {
  readonly tools?: readonly string[];
  readonly agents?: readonly string[];
  readonly tenants?: readonly string[];
  readonly all?: boolean;
};

type ConversationBlock = {
  readonly max_age_ms?: number;
  readonly idle_ms?: number;
};

type LimitsBlock = {
  readonly arguments_bytes?: number;
  readonly output_bytes?: number;
  readonly ring?: number;
};

export type ResourceAlias = {
  readonly resource: string;
  /** `tool.argument` names of the one thing. */
  readonly names: readonly string[];
};

type ResourceEdge = readonly [from: string, to: string];

type EdgesBlock = {
  readonly contains?: readonly ResourceEdge[];
  readonly derives?: readonly ResourceEdge[];
};

type LoopsBlock = {
  readonly cycle_rounds?: number;
  readonly rotation?: { readonly calls?: number; readonly keys?: number };
  readonly failure_streak?: { readonly same?: number; readonly transient?: number };
  readonly failure_run?: { readonly same_tool?: number; readonly any?: number };
};

export type PolicyDocument = {
  readonly preset?: PolicyPreset;
  readonly mode?: "enforce" | "shadow";
  /** `deny`, `hitl`, `allow`, or the name of a tier of this document. */
  readonly unknown_tools?: string;
  readonly checks?: CheckModes;
  readonly deduplication?: DeduplicationBlock;
  readonly tool_deduplication?: ToolDeduplicationBlock;
  readonly idempotency?: IdempotencyBlock;
  readonly budgets?: BudgetsBlock;
  readonly tools?: ToolsBlock;
  readonly escalation?: EscalationBlock;
  readonly acknowledgement?: AcknowledgementBlock;
  readonly authorization?: AuthorizationBlock;
  readonly tool_schemas?: Readonly<Record<string, ToolDocument>>;
  readonly kill?: KillBlock;
  readonly conversation?: ConversationBlock;
  readonly limits?: LimitsBlock;
  readonly aliases?: readonly ResourceAlias[];
  readonly edges?: EdgesBlock;
  readonly loops?: LoopsBlock;
};
