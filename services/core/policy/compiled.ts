/** A policy in the form that decides: every default applied, every pattern and template compiled. */

import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { CanonicalLimits } from "../canonical/limits.ts";
import type { SchemaProblem } from "../capabilities.ts";
import type { OnFailure } from "../events.ts";
import type { Money } from "../inputs.ts";
import type { Mode, ReasonCode } from "../reasons/reasons.ts";
import type { Sealing } from "../seal/sealing.ts";
import type { SensitivePath } from "../seal/sensitive-values.ts";
import type { PollingLimits, Rate } from "./document.ts";

export interface CompiledPolicy {
  /** `sha256:…` of the document's canonical form. */
  readonly revision: string;
  /** Id of the secret that idempotency keys are made with. */
  readonly keyId: string;
  /** What stands for sensitive arguments, by the secret. */
  readonly sealing: Sealing;
  /** Some tool has sensitive arguments. */
  readonly hidesArguments: boolean;
  readonly conversation: { readonly maxAgeMs: number; readonly idleMs: number };
  readonly canonicalLimits: CanonicalLimits;
  /** Outputs up to this many bytes are kept. */
  readonly outputBytes: number;
  readonly recentCallsMax: number;
  readonly ladder: Ladder;
  readonly acknowledgement: "off" | "implicit" | "explicit";
  /** Under `explicit`: true where what the model said shows that it goes another way. */
  readonly acknowledges: (assistantText: string) => boolean;
  readonly idempotencyTtlMs: number;
  /** Name of the header that carries the key downstream. */
  readonly idempotencyHeader: string;
  readonly budgets: Budgets;
  /** Some `max_spend` is written: estimated costs are reserved. */
  readonly countsSpend: boolean;
  readonly loops: LoopThresholds;
  /** The refusal of a duplicate carries a note for the conversation. */
  readonly appendNote: boolean;
  /** The n-th repeat of a read is answered from memory; earlier ones run again. */
  readonly answersFromRepeat: number;
  readonly tool: (name: string) => CompiledTool;
  /** Where neither a tool nor a tier names it: `deny`, or what the tier of the tool then says. */
  readonly unknownTools: "deny" | "tier";
  /** The line of the kill switch that stops such a call, or null. */
  readonly killedBy: (call: KillSubject) => string | null;
  /** How resources hang together: the tree, `contains` and `derives`. */
  readonly graph: ResourceGraph;
  /** Reads that show what the tool changes, by declaration or by name. */
  readonly readersOf: (name: string) => readonly string[];
  /** A tier that is written, or null. */
  readonly findTier: (name: string) => CompiledTier | null;
  /** Names in `tool_schemas`, in the order of the document. */
  readonly declaredTools: readonly string[];
  /** The longest window or cache time of any tool, ms: writes are remembered at least so long. */
  readonly longestWindowMs: number;
  /** The longest that any hold waits, ms: journal retention must exceed it. */
  readonly longestHoldMs: number;
}

/** Strikes at which a level is reached; null: the level is off. */
export interface Ladder {
  readonly ask: number | null;
  readonly options: number | null;
  readonly userInput: number | null;
  readonly end: { readonly at: number; readonly lasts: "turn" | "conversation" } | null;
}

export interface ResourceGraph {
  /** False: no edges are written, so only the tree counts. */
  readonly hasEdges: boolean;
  /** All ancestors of the resource, nearest first: by its path, and by `contains`. */
  readonly listAncestors: (resource: string) => readonly string[];
  /** Everything that stands for the same effect by `derives`, in either direction, nearest first. */
  readonly equalsOf: (resource: string) => readonly string[];
  /** The shortest way from a resource to one of its ancestors, both included; just both where none leads there. */
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
  /** Gate time since the first proposal of what the budget is for, less time held. */
  readonly maxMs: number | null;
  /** Exact: whole micro-units. */
  readonly maxSpend: Money | null;
}

export interface Budgets {
  readonly turn: BudgetLimit;
  readonly conversation: BudgetLimit;
  readonly tool: BudgetLimit;
}

export interface LoopThresholds {
  readonly sameOutput: number | null;
  readonly anyOutput: number | null;
  readonly cycleRounds: number;
  readonly failureSame: number;
  readonly failureTransient: number;
  /** Different calls of one tool in a turn with one output. */
  readonly noProgress: number;
  readonly rotation: { readonly calls: number; readonly keys: number };
  readonly failureRun: { readonly sameTool: number; readonly any: number };
}

/** Arguments by which near duplicates are found. */
export interface Similarity {
  readonly field: string;
  /** Above 0, at most 1. */
  readonly threshold: number;
  /** Arguments that must be equal. */
  readonly with: readonly string[];
  /** What its sketches are found under where no arguments must be equal. */
  readonly key: string;
  readonly rule: string;
}

export interface CompiledTool {
  readonly name: string;
  /** Where a call's arguments choose among several classes: the one of the call; null: there is one. */
  readonly variantOf: ((args: JsonObject) => CompiledTool) | null;
  /** All that `variantOf` may give. */
  readonly variants: readonly CompiledTool[];
  /** The name of this variant, for people; null: it is none. */
  readonly variant: string | null;
  /** Why a rule of `commands` holds or denies the call, as sentences; null: no such rule does. */
  readonly why: string | null;
  /** What each command of a call is judged by; null: the tool has no `commands`. */
  readonly commandsOf: ((args: JsonObject) => readonly JudgedCommand[]) | null;
  readonly isDeclared: boolean;
  /** The declared tool that this name differs from by case and separators alone; null: none. Such a name is unknown. */
  readonly likeTool: string | null;
  readonly isRead: boolean;
  readonly modes: Readonly<Record<ReasonCode, Mode>>;
  /** What each check reads of the policy for this tool, by the name of the check. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly tier: CompiledTier;
  /** Allowlist tiers with a rate, beside `tier`, that parts of the call come under. */
  readonly limits: readonly AllowlistTier[];
  /** Null: no schema is known. */
  readonly validate: ((args: JsonObject) => readonly SchemaProblem[]) | null;
  readonly identity: Identity;
  /** Resource templates of a read's declaration; null: none declared. */
  readonly reads: readonly ResourceTemplate[] | null;
  readonly effects: readonly CompiledEffect[];
  /** False in a policy that declares neither tools nor tiers: arguments alone identify a call. */
  readonly changesMatter: boolean;
  readonly scope: "turn" | "conversation";
  readonly windowMs: number;
  readonly cacheMs: number;
  /** A repeat within `cacheMs` is answered as a read's would be. */
  readonly answersAsRead: boolean;
  readonly volatile: boolean;
  readonly volatileOutput: readonly (readonly string[])[];
  readonly polling: PollingLimits | null;
  readonly repeatable: boolean;
  readonly batchable: boolean;
  /** Takes no parameters at all and declares no exclusive effect: it names no object. */
  readonly namesNoObject: boolean;
  readonly emptyOutput: boolean;
  readonly frequency: Rate | null;
  readonly similarity: readonly Similarity[];
  /** Arguments that only `allowed` carries in clear, in the order in which they are looked for. */
  readonly sensitive: readonly SensitivePath[];
  readonly timeLimitMs: number;
  readonly startWithinMs: number;
  readonly idempotencyArgument: string | null;
  /** True where an error pattern that the tool's author wrote matches an output. */
  readonly matchesErrorPattern: (output: string) => boolean;
  readonly suggest: readonly string[];
  /** Digest of schema and tier rule: an approval is bound to it. */
  readonly ruleDigest: string;
  /** Path of the tool's entry in the policy, or of the rule that makes it known. */
  readonly rule: string;
}

/** One command, statement, request or file of a call, for people. */
export interface JudgedCommand {
  readonly text: string;
  /** Where the policy says so. */
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
      /** `policy`: each conversation starts with `ceiling` calls; `verdict`: with none. */
      readonly grantedBy: "policy" | "verdict";
      readonly onExceeded: CompiledHold | null;
      /** Another tier of this kind, whose calls are counted apart, that parts of the call come under; null: none. */
      readonly apartFrom: string | null;
    }
  | {
      readonly action: "hitl";
      readonly name: string | null;
      readonly rule: string;
      readonly hold: CompiledHold;
    }
  | { readonly action: "deny"; readonly name: string; readonly rule: string };

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
  /** The value is a digest already: no normalizer could do its work. */
  readonly isDone: (value: JsonValue) => boolean;
}

/** `text` is the canonical JSON of `args`; `sealed`: of a call that has sensitive arguments. */
export type Identity = (args: JsonObject, text: string, sealed?: SealArguments) => IdentityResult;

export interface CompiledEffect {
  readonly kind: string;
  readonly exclusive: boolean;
  readonly onFailure: OnFailure;
  readonly rule: string;
  readonly resource: ResourceTemplate;
  /** Arguments that the template names: without one of them the resource has no name. */
  readonly arguments: readonly string[];
  /** The result names the resource: what the template gives is pending (`pending-resource.ts`). */
  readonly byResult: boolean;
}

/** The resource that a call names; null where a placeholder has no value in the arguments. */
export type ResourceTemplate = (identity: Extract<IdentityResult, { ok: true }>) => string | null;
