/** One tool of a policy, with every default applied. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { Capabilities, CompiledJsonSchema } from "../capabilities.ts";
import { CHECKS } from "../checks/order.ts";
import { sha256Hex } from "../hash.ts";
import { asksUser } from "./asks-user.ts";
import { aliasesOf } from "./compile-aliases.ts";
import type { BudgetsOfTool } from "./compile-budgets.ts";
import { compileByTier } from "./compile-by-tier.ts";
import { compileCommands, createCommandsReader } from "./compile-commands.ts";
import { compileEffects, compileReads } from "./compile-effects.ts";
import { type CompileProblem, compileIdentity, type IdentityStep } from "./compile-identity.ts";
import { inShadow, type Modes, withChecks } from "./compile-modes.ts";
import { compileSensitive } from "./compile-sensitive.ts";
import { compileSimilarity } from "./compile-similarity.ts";
import { stricter, type Tiers } from "./compile-tiers.ts";
import { type CompileVariant, compileVariants } from "./compile-variants.ts";
import type { CompiledBudget, CompiledTier, CompiledTool } from "./compiled.ts";
import { checkTypes } from "./conditions/check-types.ts";
import { compileRuleCondition } from "./conditions/rule-condition.ts";
import type { CommandRule, PolicyDocument, ToolDocument, VariantKeys } from "./document.ts";
import { hasNoParameters } from "./no-parameters.ts";
import { type PathSegment, policyPath } from "./path.ts";
import type { Windows } from "./windows.ts";

export interface ToolContext {
  readonly document: PolicyDocument;
  readonly modes: Modes;
  readonly tiers: Tiers;
  readonly windows: Windows;
  readonly declaresNothing: boolean;
  readonly unifiesSpelling: boolean;
  readonly capabilities: Capabilities;
  /** Names of the budgets that conditions may ask about. */
  readonly budgets: ReadonlySet<string>;
  readonly budgetsOf: BudgetsOfTool;
  /** The tier that is assumed of a tool with conditional tiers; null: the tool has none. */
  readonly branch: TierBranch | null;
}

interface TierBranch {
  readonly tier: CompiledTier | null;
  /** The condition, as the policy has it. */
  readonly when: JsonValue;
  /** Whether each tier that the tool may get allows its calls, so that it may be a read by its tier. */
  readonly isAllowed: boolean;
}

/**
 * The time within which executors start a call, where the policy has none; they do not run it
 * later.
 */
const START_WITHIN_MS = 60_000;
const TIME_LIMIT_MS = 60_000;

const NO_ENTRY: ToolDocument = {};

/** Compiles the tool of that name, with its variants if it has some. */
export function compileTool(
  name: string,
  context: ToolContext,
  problems: CompileProblem[],
): CompiledTool {
  const { tool_schemas: entries = {} } = context.document;
  const declared = Object.hasOwn(entries, name);
  const entry = declared ? (entries[name] ?? NO_ENTRY) : NO_ENTRY;
  const at = ["tool_schemas", name];
  const schema = compileSchema(entry, at, context.capabilities, problems);
  const budgets = context.budgetsOf({ name, entry, schema }, problems);
  const declaration = { name, declared, entry, at, schema, budgets };
  const candidates = context.tiers.candidates(name);
  if (!candidates.some(({ condition }) => condition !== null)) {
    return compileForms(declaration, context, problems);
  }
  for (const { written, at: path } of candidates) {
    if (written !== null) checkTypes(written, path, declaration, context.capabilities, problems);
  }
  const allowsAll = candidates.every(({ tier }) => tier.action === "allowlist");
  return compileByTier(candidates, schema, (candidate, isFirst) => {
    const tier = candidate?.tier ?? null;
    const when = (candidate?.written ?? null) as JsonValue;
    const branch = { tier, when, isAllowed: allowsAll && candidates.at(-1)?.condition === null };
    // All branches have the same entry, so the same problems: the first one reports them.
    return compileForms(declaration, { ...context, branch }, isFirst ? problems : []);
  });
}

type Declaration = Pick<Entry, "name" | "declared" | "entry" | "at" | "schema" | "budgets">;

function compileForms(
  declaration: Declaration,
  context: ToolContext,
  problems: CompileProblem[],
): CompiledTool {
  const { entry, at } = declaration;
  const { variants, commands } = entry;
  const reader =
    commands === undefined ? null : createCommandsReader(entry, commands, context.capabilities);
  const step = reader?.step ?? null;
  const readsCommands = commands !== undefined;
  const base = { ...declaration, step, readsCommands, ...NO_VARIANT };
  if (variants === undefined && reader === null) {
    return compileEntry(base, context, problems);
  }
  const compileVariant: CompileVariant = ({ name: variant, rule }, keys, path, variantProblems) => {
    const { tier = null, ...own } = keys;
    const chosen = { entry: merge(entry, own), at: path, variant, chosenBy: rule, tier };
    return compileEntry({ ...base, ...chosen }, context, variantProblems);
  };
  const strictest = { ...base, entry: { ...entry, read_only: false } };
  const tool = compileEntry(strictest, context, problems);
  if (commands === undefined || reader === null) {
    const own = { ...context, schema: declaration.schema };
    return { ...tool, ...compileVariants(tool, entry, at, own, compileVariant, problems) };
  }
  if (variants !== undefined) {
    const message = "says the same as `commands`: a tool has one of the two";
    problems.push({ path: policyPath([...at, "variants"]), message });
  }
  const conditionOf = (when: CommandRule["when"], path: readonly PathSegment[]) =>
    compileRuleCondition(when, path, declaration, context, problems);
  const { tiers } = context;
  return {
    ...tool,
    ...compileCommands(entry, commands, at, reader, tiers, compileVariant, conditionOf, problems),
  };
}

const NO_VARIANT = { variant: null, chosenBy: null, tier: null };

interface Entry {
  readonly name: string;
  readonly declared: boolean;
  readonly entry: ToolDocument;
  /** Path of the entry's keys. */
  readonly at: readonly PathSegment[];
  readonly schema: CompiledJsonSchema | null;
  readonly budgets: readonly CompiledBudget[];
  readonly variant: string | null;
  /** The rule that chooses the variant, as the policy writes it; null: no rule does. */
  readonly chosenBy: JsonValue;
  /** Name of the tier that a variant requires. */
  readonly tier: string | null;
  /** The last step on an argument before calls are compared. */
  readonly step: IdentityStep | null;
  /** Whether the tool has `commands`, also where this is the entry of one of their rules. */
  readonly readsCommands: boolean;
}

const NO_LIMITS: readonly never[] = [];

/** A read has no effects, even where the tool's own entry declares some. */
function merge(
  { variants: _chosen, commands: _read, ...entry }: ToolDocument,
  keys: VariantKeys,
): ToolDocument {
  const merged = { ...entry, ...keys };
  if (merged.read_only !== true) return merged;
  const { effects: _effects, side_effect_resource: _resource, ...read } = merged;
  return read;
}

function compileEntry(
  written: Entry,
  context: ToolContext,
  problems: CompileProblem[],
): CompiledTool {
  const { name, declared, entry, at, schema, budgets, variant } = written;
  const { chosenBy, tier: asked, step, readsCommands } = written;
  const { document, tiers, windows, branch } = context;
  const askedTier = asked === null ? null : tiers.findForRule(asked, policyPath([...at, "tier"]));
  const matching = askedTier ?? tierByName(name, context);
  const isDeclared = declared || isMentioned(matching, context);
  const asks = asksUser(name, entry);
  const read = isRead(entry, isAllowed(matching, branch), asks);
  const tier = askedTier ?? tierOf(entry, name, isDeclared, read, matching, context);
  const aliased = aliasesOf(document.aliases, name);
  const effects = compileEffects(entry, document, at, aliased, problems);
  const modes = withChecks(context.modes, entry.checks);
  const rule = declared ? policyPath(["tool_schemas", name]) : tier.rule;
  const byteHash = document.deduplication?.strategy === "byte_hash";
  return {
    ...defaultsOf(entry),
    name,
    variantOf: null,
    variants: [],
    variant,
    why: null,
    commandsOf: null,
    testedRulesOf: null,
    variantRulesOf: null,
    isByDefault: isByDefault(entry, matching, { isDeclared, isRead: read }),
    budgets,
    isDeclared,
    likeTool: null,
    isRead: read,
    asksUser: asks,
    volatile: asks || (entry.volatile ?? false),
    modes: document.mode === "shadow" ? inShadow(modes) : modes,
    settings: compileCheckSettings(document, entry),
    tier,
    limits: NO_LIMITS,
    validate: schema === null ? null : schema.validate,
    identity: compileIdentity(
      entry,
      at,
      {
        byteHash,
        schema,
        capabilities: context.capabilities,
        last: step,
        isWrite: !read,
        readsCommands,
        unifiesSpelling: context.unifiesSpelling,
      },
      problems,
    ),
    reads: compileReads(entry, at, aliased, problems),
    effects,
    changesMatter: !context.declaresNothing,
    scope: entry.scope ?? windows.scope,
    windowMs: seconds(entry.dedupe_window_s) ?? windows.windowMs,
    cacheMs: seconds(entry.cache_ttl_s) ?? windows.cacheMs,
    similarity: compileSimilarity(entry, name, rule),
    sensitive: compileSensitive(entry, name, problems),
    answersAsRead: context.declaresNothing && windows.cacheWritten,
    namesNoObject:
      !effects.some((effect) => effect.exclusive) && hasNoParameters(entry.input_schema),
    matchesErrorPattern: errorPatternTest(entry, at, context.capabilities, problems),
    ruleDigest: ruleDigest(entry, tier, chosenBy, branch?.when ?? null),
    rule,
  };
}

/** Whether the policy names a tool that it has no entry of. */
function isMentioned(tier: CompiledTier | null, { branch, declaresNothing }: ToolContext): boolean {
  return tier !== null || branch !== null || declaresNothing;
}

/** Whether `authorization.default` decides: neither a tier nor a risk names the write. */
function isByDefault(
  { risk_level }: ToolDocument,
  tier: CompiledTier | null,
  { isDeclared, isRead }: Pick<CompiledTool, "isDeclared" | "isRead">,
): boolean {
  return isDeclared && !isRead && tier === null && risk_level === undefined;
}

function tierByName(name: string, { tiers, branch }: ToolContext): CompiledTier | null {
  return branch === null ? tiers.matching(name) : branch.tier;
}

function isAllowed(tier: CompiledTier | null, branch: TierBranch | null): boolean {
  return tier?.action === "allowlist" && (branch === null || branch.isAllowed);
}

/** Each check compiles the part of the policy that it needs. */
function compileCheckSettings(document: PolicyDocument, entry: ToolDocument) {
  return Object.fromEntries(CHECKS.map(({ name, compile }) => [name, compile(document, entry)]));
}

/** Defaults that the entry alone determines. */
function defaultsOf(entry: ToolDocument) {
  return {
    volatileOutput: (entry.volatile_output ?? []).map(outputPath),
    polling: entry.polling ?? null,
    repeatable: entry.repeatable ?? false,
    batchable: entry.batchable ?? false,
    emptyOutput: entry.empty_output ?? false,
    frequency: entry.frequency ?? null,
    timeLimitMs: entry.time_limit_ms ?? TIME_LIMIT_MS,
    startWithinMs: entry.start_within_ms ?? START_WITHIN_MS,
    idempotencyArgument: entry.idempotency_argument ?? null,
    suggest: entry.suggest ?? [],
  };
}

function seconds(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value * 1_000;
}

/** `$.meta.took_ms` as a list of member names. */
function outputPath(path: string): string[] {
  return path.replace(/^\$\.?/, "").split(".");
}

function isRead(entry: ToolDocument, byTier: boolean, asks: boolean): boolean {
  if (asks) return true;
  if (entry.read_only !== undefined) return entry.read_only;
  const writes =
    (entry.effects ?? []).some((effect) => effect.kind !== "read") ||
    entry.side_effect_resource !== undefined;
  const declaresRead =
    entry.reads !== undefined || entry.polling !== undefined || entry.volatile === true;
  if (declaresRead || writes) return declaresRead && !writes;
  const risky = entry.risk_level !== undefined && entry.risk_level !== "LOW";
  return byTier && !risky;
}

function tierOf(
  entry: ToolDocument,
  name: string,
  isDeclared: boolean,
  read: boolean,
  matching: CompiledTier | null,
  context: ToolContext,
): CompiledTier {
  if (!isDeclared) return unknownTier(context);
  const rule = policyPath(["tool_schemas", name, "risk_level"]);
  const risk = entry.risk_level;
  const byRisk = risk === undefined ? null : context.tiers.forRisk(risk, rule);
  if (matching !== null && byRisk !== null) return stricter(matching, byRisk);
  return matching ?? byRisk ?? context.tiers.byDefault({ isRead: read });
}

/**
 * The `tool` step refuses under `deny`; this tier only matters where that step does not enforce.
 */
function unknownTier({ document, tiers }: ToolContext): CompiledTier {
  const rule = "unknown_tools";
  const setting = document.unknown_tools ?? "deny";
  if (setting === "hitl") return tiers.hitl(rule);
  const tier = setting === "deny" || setting === "allow" ? null : tiers.findByName(setting);
  return tier ?? { action: "allow", name: null, rule };
}

function compileSchema(
  entry: ToolDocument,
  at: readonly PathSegment[],
  capabilities: Capabilities,
  problems: CompileProblem[],
): CompiledJsonSchema | null {
  if (entry.input_schema === undefined) return null;
  const compiled = capabilities.compileJsonSchema(entry.input_schema);
  if (compiled.ok) return compiled;
  problems.push({ path: policyPath([...at, "input_schema"]), message: compiled.problem });
  return null;
}

function errorPatternTest(
  entry: ToolDocument,
  at: readonly PathSegment[],
  capabilities: Capabilities,
  problems: CompileProblem[],
): (output: string) => boolean {
  const tests: ((text: string) => boolean)[] = [];
  (entry.error_patterns ?? []).forEach((pattern, index) => {
    const compiled = capabilities.compilePattern(pattern);
    if (compiled.ok) tests.push(compiled.test);
    else {
      const path = policyPath([...at, "error_patterns", index]);
      problems.push({ path, message: compiled.problem });
    }
  });
  return (output) => tests.some((test) => test(output));
}

/**
 * Digest of what a person is asked about: the tier, the schema of the arguments, and the rule and
 * the condition that chose the tier, if some did.
 */
function ruleDigest(
  entry: ToolDocument,
  tier: CompiledTier,
  chosenBy: JsonValue,
  when: JsonValue,
): string {
  const rule = { schema: entry.input_schema ?? null, tier } as unknown as JsonObject;
  const ofVariant = chosenBy === null ? rule : { ...rule, chosenBy };
  const whole = when === null ? ofVariant : { ...ofVariant, when };
  return sha256Hex("callgate.rule.v1", canonicalText(whole));
}
