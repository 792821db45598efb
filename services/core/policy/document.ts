/**
 * The policy document after loading: what an author wrote, with the two positions of a block (top
 * level and `policy_engine:`) and all merged files folded into one plain object. Keys keep the
 * author's spelling; an absent key was not written, so the preset decides. Nothing in here is
 * compiled. What each key means is in docs/policy-reference.md.
 *
 * Written by `npm run schemas` from the vocabulary (`services/adapters/policy/vocabulary`).
 */

import type { JsonValue } from "../canonical/json-value.ts";

export type PolicyDocument = {
  readonly preset?: PolicyPreset;
  readonly mode?: "enforce" | "shadow";
  readonly unknown_tools?: string;
  readonly checks?: CheckModes;
  readonly deduplication?: {
    readonly window_ms?: number;
    readonly strategy?: "semantic_hash" | "byte_hash";
    readonly spelling?: "lenient" | "strict";
    readonly loop_threshold?: {
      readonly same_output?: Threshold;
      readonly any_output?: Threshold;
      readonly any_pace?: Threshold;
    };
    readonly cache_ttl_ms?: number;
    readonly scope?: "turn" | "conversation";
    readonly max_history?: number;
  };
  readonly tool_deduplication?: {
    readonly enabled?: boolean;
    readonly exact_duplicate_threshold?: number;
    readonly no_progress_threshold?: number;
    readonly append_system_note?: boolean;
  };
  readonly idempotency?: {
    readonly generation?: "content_based";
    readonly header?: "X-Agent-Idempotency-Key";
    readonly ttl_ms?: number;
    readonly unknown_outcome?: "refuse" | "retry_if_absent";
  };
  readonly budgets?: {
    readonly max_steps?: number;
    readonly max_tool_calls?: number;
    readonly max_seconds?: number;
    readonly max_spend?: {
      readonly amount: string;
      readonly currency: string;
    };
    readonly per_conversation?: BudgetLimits;
    readonly per_tool?: BudgetLimits;
    readonly by_name?: Readonly<Record<string, BudgetDocument>>;
  };
  readonly tools?: {
    readonly dedupe_window_s?: number;
    readonly cache_ttl_s?: number;
    readonly retries?: {
      readonly max_attempts?: number;
      readonly retryable_status?: readonly number[];
      readonly backoff_ms?: readonly [number, number];
    };
  };
  readonly escalation?: EscalationBlock;
  readonly acknowledgement?: {
    readonly mode?: "off" | "implicit" | "explicit";
    readonly patterns?: readonly string[];
    readonly unless?: readonly string[];
  };
  readonly authorization?: {
    readonly default?: "allow" | "ask" | "deny";
    readonly tiers?: readonly PolicyTier[];
  };
  readonly tool_schemas?: Readonly<Record<string, ToolDocument>>;
  readonly kill?: {
    readonly tools?: readonly string[];
    readonly agents?: readonly string[];
    readonly tenants?: readonly string[];
    readonly all?: boolean;
  };
  readonly conversation?: {
    readonly max_age_ms?: number;
    readonly idle_ms?: number;
  };
  readonly limits?: {
    readonly arguments_bytes?: number;
    readonly output_bytes?: number;
    readonly recent_calls?: number;
  };
  readonly aliases?: readonly ResourceAlias[];
  readonly edges?: {
    readonly contains?: readonly (readonly [string, string])[];
    readonly derives?: readonly (readonly [string, string])[];
  };
  readonly loops?: {
    readonly drift?: {
      readonly warn?: number;
      readonly refuse?: Threshold;
    };
    readonly cycle_rounds?: number;
    readonly rotation?: {
      readonly calls?: number;
      readonly keys?: number;
    };
    readonly failure_streak?: {
      readonly same?: number;
      readonly transient?: number;
      readonly over_turns?: number;
      readonly pause_ms?: readonly [number, number];
    };
    readonly failure_run?: {
      readonly same_tool?: number;
      readonly any?: number;
    };
  };
};

export type PolicyPreset = "observe" | "balanced" | "strict";

export type CheckModes = Readonly<Record<string, "enforce" | "warn" | "shadow" | "off">>;

export type Threshold = number | "off";

export type BudgetLimits = {
  readonly max_steps?: number;
  readonly max_tool_calls?: number;
  readonly max_seconds?: number;
  readonly max_spend?: {
    readonly amount: string;
    readonly currency: string;
  };
};

export type BudgetDocument = {
  readonly tools: string;
  readonly when?: Condition | readonly Condition[];
  readonly per?: "turn" | "conversation" | "day";
  readonly amount?: string;
  readonly amounts_in?: string;
  readonly max_tool_calls?: number;
  readonly max_spend?: {
    readonly amount: string;
    readonly currency: string;
  };
};

export type Condition = Readonly<Record<string, ArgumentTests>>;

export type ArgumentTests = {
  readonly equals?: Scalar;
  readonly not?: Scalar;
  readonly in?: readonly Scalar[];
  readonly not_in?: readonly Scalar[];
  readonly at_most?: QuantityBound;
  readonly at_least?: QuantityBound;
  readonly above?: QuantityBound;
  readonly below?: QuantityBound;
  readonly currency?: string;
  readonly starts_with?: readonly string[];
  readonly ends_with?: readonly string[];
  readonly domain?: readonly string[];
  readonly count?: {
    readonly equals?: number;
    readonly at_most?: number;
    readonly at_least?: number;
  };
  readonly budget?: string;
  readonly present?: boolean;
};

export type Scalar = string | number | boolean | null;

export type QuantityBound = number | string;

export type EscalationBlock = {
  readonly ask?: Threshold;
  readonly options?: Threshold;
  readonly user_input?: Threshold;
  readonly end?: {
    readonly at: Threshold;
    readonly lasts: "turn" | "conversation";
  };
};

export type PolicyTier =
  | {
      readonly name: string;
      readonly pattern: string;
      readonly when?: Condition | readonly Condition[];
      readonly action: "allowlist";
      readonly rate_limit?: Rate;
    }
  | {
      readonly name: string;
      readonly pattern: string;
      readonly when?: Condition | readonly Condition[];
      readonly action: "per_conversation_grant";
      readonly ceiling: number;
      readonly ttl_ms?: number;
      readonly granted_by?: "policy" | "verdict";
      readonly on_exceeded?: "refuse" | "hitl";
    }
  | HitlTier
  | {
      readonly name: string;
      readonly pattern: string;
      readonly when?: Condition | readonly Condition[];
      readonly action: "deny";
    };

export type Rate = {
  readonly count: number;
  readonly windowMs: number;
};

export type HitlTier = {
  readonly name: string;
  readonly pattern: string;
  readonly when?: Condition | readonly Condition[];
  readonly action: "hitl";
  readonly require_reason?: boolean;
  readonly expires_ms?: number;
  readonly approvals?: number;
};

export type ToolDocument = {
  readonly risk_level?: RiskLevel;
  readonly canonical_fields?: readonly string[];
  readonly normalizers?: Readonly<Record<string, readonly NormalizerCall[]>>;
  readonly spelling?: "lenient" | "strict";
  readonly side_effect_resource?: string;
  readonly input_schema?: Readonly<Record<string, JsonValue>>;
  readonly effects?: readonly DeclaredEffect[];
  readonly suggest?: readonly string[];
  readonly sensitive?: readonly string[];
  readonly read_only?: boolean;
  readonly reads?: readonly string[];
  readonly polling?: PollingLimits;
  readonly volatile?: boolean;
  readonly asks_user?: boolean;
  readonly volatile_output?: readonly string[];
  readonly error_patterns?: readonly string[];
  readonly similarity?: readonly {
    readonly field: string;
    readonly threshold: number;
    readonly with?: readonly string[];
  }[];
  readonly dedupe_window_s?: number;
  readonly cache_ttl_s?: number;
  readonly retries?: {
    readonly max_attempts?: number;
    readonly retryable_status?: readonly number[];
    readonly backoff_ms?: readonly [number, number];
  };
  readonly scope?: "turn" | "conversation";
  readonly checks?: CheckModes;
  readonly repeatable?: boolean;
  readonly batchable?: boolean;
  readonly frequency?: Rate;
  readonly time_limit_ms?: number;
  readonly start_within_ms?: number;
  readonly idempotency_argument?: string;
  readonly empty_output?: boolean;
  readonly variants?: VariantsDocument;
  readonly commands?: CommandsDocument;
};

export type RiskLevel = "LOW" | "MEDIUM" | "HIGH";

export type NormalizerCall = {
  readonly name: string;
  readonly arguments: readonly string[];
};

export type DeclaredEffect = {
  readonly resource: string;
  readonly kind: EffectKind;
  readonly exclusive?: boolean;
  readonly on_failure?: "conflict" | "warn" | "free";
  readonly scope?: "conversation" | "tenant";
  readonly of?: string;
};

export type EffectKind =
  | "create"
  | "update"
  | "delete"
  | "charge"
  | "transfer"
  | "send"
  | "read"
  | "custom";

export type PollingLimits = {
  readonly min_interval_ms?: number;
  readonly max_calls?: number;
};

export type VariantsDocument = {
  readonly argument?: string;
  readonly rules?: readonly VariantRule[];
  readonly otherwise?: VariantKeys;
};

export type VariantRule = {
  readonly match?: string;
  readonly equals?: readonly string[];
  readonly like?: string;
  readonly when?: Condition | readonly Condition[];
  readonly read_only?: boolean;
  readonly risk_level?: RiskLevel;
  readonly effects?: readonly DeclaredEffect[];
  readonly side_effect_resource?: string;
  readonly reads?: readonly string[];
  readonly volatile?: boolean;
  readonly polling?: PollingLimits;
  readonly repeatable?: boolean;
  readonly batchable?: boolean;
  readonly canonical_fields?: readonly string[];
  readonly normalizers?: Readonly<Record<string, readonly NormalizerCall[]>>;
  readonly dedupe_window_s?: number;
  readonly cache_ttl_s?: number;
  readonly scope?: "turn" | "conversation";
  readonly checks?: CheckModes;
  readonly suggest?: readonly string[];
  readonly tier?: string;
};

export type VariantKeys = {
  readonly read_only?: boolean;
  readonly risk_level?: RiskLevel;
  readonly effects?: readonly DeclaredEffect[];
  readonly side_effect_resource?: string;
  readonly reads?: readonly string[];
  readonly volatile?: boolean;
  readonly polling?: PollingLimits;
  readonly repeatable?: boolean;
  readonly batchable?: boolean;
  readonly canonical_fields?: readonly string[];
  readonly normalizers?: Readonly<Record<string, readonly NormalizerCall[]>>;
  readonly dedupe_window_s?: number;
  readonly cache_ttl_s?: number;
  readonly scope?: "turn" | "conversation";
  readonly checks?: CheckModes;
  readonly suggest?: readonly string[];
  readonly tier?: string;
};

export type CommandsDocument = {
  readonly language?: CommandLanguage;
  readonly argument?: string;
  readonly workspace?: string;
  readonly readable?: readonly string[];
  readonly secrets?: readonly string[];
  readonly assignments?: readonly string[];
  readonly session?: boolean;
  readonly functions?: readonly string[];
  readonly rules?: readonly CommandRule[];
  readonly unclear?: string;
  readonly examples?: {
    readonly allowed?: readonly string[];
    readonly held?: readonly string[];
    readonly denied?: readonly string[];
  };
};

export type CommandLanguage = "shell" | "git" | "sql" | "http" | "files";

export type CommandRule = {
  readonly run?: readonly string[];
  readonly paths?: "workspace" | "inside" | "outside" | "root_or_home";
  readonly writes?: "workspace" | "inside" | "outside" | "root_or_home";
  readonly statement?: readonly string[];
  readonly tables?: readonly string[];
  readonly method?: readonly string[];
  readonly host?: readonly string[];
  readonly path?: readonly string[];
  readonly when?: Condition | readonly Condition[];
  readonly why?: string;
  readonly read_only?: boolean;
  readonly risk_level?: RiskLevel;
  readonly effects?: readonly DeclaredEffect[];
  readonly side_effect_resource?: string;
  readonly reads?: readonly string[];
  readonly volatile?: boolean;
  readonly polling?: PollingLimits;
  readonly repeatable?: boolean;
  readonly batchable?: boolean;
  readonly canonical_fields?: readonly string[];
  readonly normalizers?: Readonly<Record<string, readonly NormalizerCall[]>>;
  readonly dedupe_window_s?: number;
  readonly cache_ttl_s?: number;
  readonly scope?: "turn" | "conversation";
  readonly checks?: CheckModes;
  readonly suggest?: readonly string[];
  readonly tier?: string;
};

export type ResourceAlias = {
  readonly resource: string;
  readonly names: readonly string[];
};
