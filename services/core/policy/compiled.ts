/** A compiled policy: every default is applied, every pattern and template compiled. */

import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { CanonicalLimits } from "../canonical/limits.ts";
import type { SchemaProblem } from "../capabilities.ts";
import type { OnFailure } from "../events.ts";
import type { Money } from "../inputs.ts";
import type { Mode, ReasonCode } from "../reasons/reasons.ts";
import type { Sealing } from "../seal/sealing.ts";
import type { SensitivePath } from "../seal/sensitive-values.ts";
import { type Spending, UNKNOWN_SPENDING } from "./conditions/spending.ts";
import type { TestedArgument, Truth } from "./conditions/truth.ts";
import type { PollingLimits, Rate } from "./document.ts";

export interface CompiledPolicy {
  /** `sha256:…` of the document's canonical form. */
  readonly revision: string;
  /** Id of the secret that idempotency keys are made with. */
  readonly keyId: string;
  /** Makes the digests that take the place of sensitive arguments. */
  readonly sealing: Sealing;
  /** Whether some tool has sensitive arguments. */
  readonly hidesArguments: boolean;
  /** Whether some effect happens once in all conversations of a tenant (`scope: tenant`). */
  readonly scopesToTenant: boolean;
  readonly conversation: { readonly maxAgeMs: number; readonly idleMs: number };
  readonly canonicalLimits: CanonicalLimits;
  /** Outputs of up to this many bytes are stored. */
  readonly outputBytes: number;
  readonly recentCallsMax: number;
  readonly ladder: Ladder;
  readonly acknowledgement: "off" | "implicit" | "explicit";
  /** Under `explicit`: whether the model's text says that it will try something else. */
  readonly acknowledges: (assistantText: string) => boolean;
  readonly idempotencyTtlMs: number;
  /** Whether a write of unknown outcome may be made again once a read shows that it did nothing. */
  readonly retriesAbsent: boolean;
  /** Name of the header that carries the key downstream. */
  readonly idempotencyHeader: string;
  readonly budgets: Budgets;
  /** Whether some `max_spend` is written: then estimated costs are reserved. */
  readonly countsSpend: boolean;
  readonly loops: LoopThresholds;
  /** Whether the refusal of a duplicate carries a note for the conversation. */
  readonly appendNote: boolean;
  /** The n-th repeat of a read is answered from memory; earlier ones run again. */
  readonly answersFromRepeat: number;
  readonly tool: (name: string) => CompiledTool;
  /**
   * For a tool that neither `tool_schemas` nor a tier names: `deny`, or what the tool's tier then
   * says.
   */
  readonly unknownTools: "deny" | "tier";
  /** The line of the kill switch that stops the call, or null. */
  readonly killedBy: (call: KillSubject) => string | null;
  /** Relations between resources: the tree, `contains` and `derives`. */
  readonly graph: ResourceGraph;
  /** Puts a value that names a resource into one spelling; null: values count as they are written. */
  readonly unifyValue: ((value: JsonValue) => JsonValue) | null;
  /** Reads that show what the tool changes, found by declaration or by name. */
  readonly readersOf: (name: string) => readonly string[];
  /** The tier of that name, if the policy has one. */
  readonly findTier: (name: string) => CompiledTier | null;
  /** Names in `tool_schemas`, in the order of the document. */
  readonly declaredTools: readonly string[];
  /** The longest window or cache time of any tool, ms: writes are remembered at least so long. */
  readonly longestWindowMs: number;
  /** The longest that any hold waits, ms: the retention of the journal must exceed it. */
  readonly longestHoldMs: number;
}

/** Strikes at which each escalation level is reached; null: the level is off. */
export interface Ladder {
  readonly ask: number | null;
  readonly options: number | null;
  readonly userInput: number | null;
  readonly end: { readonly at: number; readonly lasts: "turn" | "conversation" } | null;
}

export interface ResourceGraph {
  /** False: the policy has no edges, so only the tree counts. */
  readonly hasEdges: boolean;
  /** Every ancestor of the resource, nearest first: path prefixes, and ancestors by `contains`. */
  readonly listAncestors: (resource: string) => readonly string[];
  /** Everything that is the same effect by `derives`, in either direction, nearest first. */
  readonly equalsOf: (resource: string) => readonly string[];
  /**
   * The shortest way from a resource to one of its ancestors, both included; just these two where
   * no way exists.
   */
  readonly pathToWhole: (resource: string, whole: string) => readonly string[];
  readonly pathToEqual: (resource: string, equal: string) => readonly string[];
}

export interface KillSubject {
  readonly tool: string;
  readonly agentId: string | null;
  readonly tenantId: string;
}

export interface BudgetLimit {
  readonly maxSteps: number | null;
  readonly maxCalls: number | null;
  /** Gate time since the first proposal that the budget counts, less time held. */
  readonly maxMs: number | null;
  /** Exact: whole micro-units. */
  readonly maxSpend: Money | null;
}

/** A budget of `budgets.by_name`, of one tool. */
export interface CompiledBudget {
  readonly name: string;
  readonly rule: string;
  /** How long what it counted counts. */
  readonly per: "turn" | "conversation" | "day";
  readonly maxCalls: number | null;
  readonly maxSpend: Money | null;
  /** Whether a call counts; total: one that the condition cannot read counts. */
  readonly counts: (args: JsonObject) => boolean;
  /** The argument that says what a call costs; null: the platform does. */
  readonly amountOf: ((args: JsonObject) => Money | null) | null;
}

export interface Budgets {
  readonly turn: BudgetLimit;
  readonly conversation: BudgetLimit;
  readonly tool: BudgetLimit;
  /** The budgets with a name, and the period that each counts in. */
  readonly periods: ReadonlyMap<string, CompiledBudget["per"]>;
}

export interface LoopThresholds {
  readonly sameOutput: number | null;
  readonly anyOutput: number | null;
  /** Equal calls with one output, however far apart, of which the model is advised. */
  readonly anyPace: number | null;
  readonly cycleRounds: number;
  readonly failureSame: number;
  readonly failureTransient: number;
  /** The number of turns with equal failures, and nothing written since, at which a streak begins. */
  readonly failureTurns: number;
  /** How long the first try beyond a streak waits, and the longest that any waits. */
  readonly failurePauseMs: { readonly min: number; readonly max: number };
  /** Different calls of one tool in a turn that have one output. */
  readonly noProgress: number;
  readonly rotation: { readonly calls: number; readonly keys: number };
  /**
   * Different calls without anything new, at which the model is warned, and at which the next one is refused;
   * null: never.
   */
  readonly drift: { readonly warn: number; readonly refuse: number | null };
  readonly failureRun: { readonly sameTool: number; readonly any: number };
}

/** Arguments by which near duplicates are found. */
export interface Similarity {
  readonly field: string;
  /** Above 0, at most 1. */
  readonly threshold: number;
  /** Arguments that must be equal in both calls. */
  readonly with: readonly string[];
  /** Key of its sketches where no arguments must be equal. */
  readonly key: string;
  readonly rule: string;
}

export interface CompiledTool {
  readonly name: string;
  /**
   * Returns the variant of a call, where its arguments choose among several; null: the tool has one
   * form.
   */
  readonly variantOf: ((args: JsonObject, spending: Spending) => CompiledTool) | null;
  /** All tools that `variantOf` can return. */
  readonly variants: readonly CompiledTool[];
  /** The name of this variant, for people; null: this is no variant. */
  readonly variant: string | null;
  /** Why a rule of `commands` holds or denies the call, as sentences; null: no such rule does. */
  readonly why: string | null;
  /** What each command of a call is judged by; null: the tool has no `commands`. */
  readonly commandsOf: ((args: JsonObject, spending: Spending) => readonly JudgedCommand[]) | null;
  /** How each tier and rule with a condition fits a call; null: the tool has none. */
  readonly testedRulesOf: ((args: JsonObject, spending: Spending) => readonly TestedRule[]) | null;
  /** Paths of the rules of `variants` that may apply to a call; null: the tool has none. */
  readonly variantRulesOf: ((args: JsonObject, spending: Spending) => readonly string[]) | null;
  /** Whether the tier is that of `authorization.default`, because nothing names the write. */
  readonly isByDefault: boolean;
  /** The budgets with a name that count calls of the tool. */
  readonly budgets: readonly CompiledBudget[];
  readonly isDeclared: boolean;
  /**
   * The declared tool whose name differs from this one by case and separators alone; null: none.
   * The gate treats this name as unknown.
   */
  readonly likeTool: string | null;
  readonly isRead: boolean;
  readonly modes: Readonly<Record<ReasonCode, Mode>>;
  /** What each check compiled from the policy for this tool, by the name of the check. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly tier: CompiledTier;
  /** Allowlist tiers with a rate, beside `tier`, that apply to parts of the call. */
  readonly limits: readonly AllowlistTier[];
  /** Null: the policy has no schema for the tool. */
  readonly validate: ((args: JsonObject) => readonly SchemaProblem[]) | null;
  readonly identity: Identity;
  /** Resource templates that a read declares; null: it declares none. */
  readonly reads: readonly ResourceTemplate[] | null;
  readonly effects: readonly CompiledEffect[];
  /** False in a policy that declares neither tools nor tiers: arguments alone identify a call. */
  readonly changesMatter: boolean;
  readonly scope: "turn" | "conversation";
  readonly windowMs: number;
  readonly cacheMs: number;
  /** Whether a repeat within `cacheMs` is answered as a read's would be. */
  readonly answersAsRead: boolean;
  readonly volatile: boolean;
  readonly volatileOutput: readonly (readonly string[])[];
  readonly polling: PollingLimits | null;
  readonly repeatable: boolean;
  readonly batchable: boolean;
  /**
   * Whether the tool takes no parameters and declares no exclusive effect, so that its calls name
   * no object.
   */
  readonly namesNoObject: boolean;
  readonly emptyOutput: boolean;
  /** Whether the call asks a person: a read whose answer is new input. */
  readonly asksUser: boolean;
  readonly frequency: Rate | null;
  readonly similarity: readonly Similarity[];
  /**
   * Arguments that only `allowed` carries in clear text, in the order in which the gate looks for
   * them.
   */
  readonly sensitive: readonly SensitivePath[];
  readonly timeLimitMs: number;
  readonly startWithinMs: number;
  readonly idempotencyArgument: string | null;
  /** True where an error pattern that the tool's author wrote matches an output. */
  readonly matchesErrorPattern: (output: string) => boolean;
  readonly suggest: readonly string[];
  /** Digest of schema and tier rule: an approval is bound to it. */
  readonly ruleDigest: string;
  /** Path of the tool's entry in the policy, or of the rule that declares the tool. */
  readonly rule: string;
}

/** A tier or rule with a condition, and whether it applies to a call. */
export interface TestedRule {
  /** The tier's name, or the path of the rule in the tool's entry. */
  readonly name: string;
  readonly truth: Truth;
  readonly tests: readonly TestedArgument[];
}

/** One command, statement, request or file of a call, for people. */
export interface JudgedCommand {
  readonly text: string;
  /** Path of the rule in the policy. */
  readonly rule: string;
  readonly tier: CompiledTier;
  readonly isRead: boolean;
  readonly why: string | null;
}

export interface AllowlistTier {
  readonly action: "allowlist";
  readonly name: string;
  readonly rule: string;
  readonly rate: Rate | null;
}

export type CompiledTier =
  | { readonly action: "allow"; readonly name: null; readonly rule: string }
  | AllowlistTier
  | {
      readonly action: "grant";
      readonly name: string;
      readonly rule: string;
      readonly ceiling: number;
      readonly ttlMs: number | null;
      /**
       * `policy`: each conversation starts with `ceiling` calls; `verdict`: each starts with none.
       */
      readonly grantedBy: "policy" | "verdict";
      readonly onExceeded: CompiledHold | null;
      /** Another grant tier, counted separately, that applies to parts of the call; null: none. */
      readonly apartFrom: string | null;
    }
  | {
      readonly action: "hitl";
      readonly name: string | null;
      readonly rule: string;
      readonly hold: CompiledHold;
    }
  | { readonly action: "deny"; readonly name: string | null; readonly rule: string };

export interface CompiledHold {
  readonly expiresMs: number;
  readonly requireReason: boolean;
  readonly approvals: number;
}

export type IdentityResult =
  | {
      readonly ok: true;
      /** Canonical JSON of what makes two calls the same. */
      readonly text: string;
      /** Arguments with normalizers applied: resource templates read them. */
      readonly normalized: JsonObject;
      /** Values of the canonical fields, in declared order; null: all arguments count. */
      readonly fields: readonly unknown[] | null;
    }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** What lets a call be identified without its sensitive arguments. */
export interface SealArguments {
  readonly seal: (args: JsonObject) => JsonObject;
  /** Whether the value is a digest already, so that no normalizer can work on it. */
  readonly isDone: (value: JsonValue) => boolean;
}

/**
 * `text` is the canonical JSON of `args`; `sealed` is passed for a call that has sensitive
 * arguments.
 */
export type Identity = ((
  args: JsonObject,
  text: string,
  sealed?: SealArguments,
) => IdentityResult) & {
  /** True: the text of all arguments is the identity, but for fresh keys (`fresh-keys.ts`) and spelling. */
  readonly isWhole?: boolean;
  /**
   * The arguments in the spelling that they are compared in (`compile-spelling.ts`); null: they are compared as they are.
   */
  readonly unify?: ((args: JsonObject) => JsonObject) | null;
};

export interface CompiledEffect {
  readonly kind: string;
  readonly exclusive: boolean;
  readonly onFailure: OnFailure;
  readonly rule: string;
  readonly resource: ResourceTemplate;
  /** Arguments that the template names: without one of them the resource has no name. */
  readonly arguments: readonly string[];
  /**
   * Whether the result names the resource: then the template gives a pending resource
   * (`pending-resource.ts`).
   */
  readonly byResult: boolean;
  /**
   * The tool whose calls make the thing: then what these were called with names it too (`decide/made-by.ts`);
   * null: the resource alone does.
   */
  readonly madeBy: string | null;
  /** Whether it happens once in all conversations of a tenant; false: in each conversation. */
  readonly tenantWide: boolean;
}

/**
 * The resource that a call names, or one for each element of a list; null where a placeholder has no value in the
 * arguments.
 */
export type ResourceTemplate = (
  identity: Extract<IdentityResult, { ok: true }>,
) => string | readonly string[] | null;

/**
 * The tool that a call is judged by; for a composite tool the variant that its arguments choose.
 * `spending`: what the conversation has spent; default: nobody knows.
 */
export function toolOfCall(
  policy: CompiledPolicy,
  name: string,
  args: JsonObject,
  spending: Spending = UNKNOWN_SPENDING,
): CompiledTool {
  const tool = policy.tool(name);
  return tool.variantOf === null ? tool : tool.variantOf(args, spending);
}
