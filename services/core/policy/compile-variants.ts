/** Meta tools: an argument names the operation that the call performs. */
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { Capabilities, CompiledJsonSchema } from "../capabilities.ts";
import { getArgument, isObject } from "./argument-path.ts";
import type { CompileProblem } from "./compile-identity.ts";
import { STRICTNESS, type Tiers, unknownTier } from "./compile-tiers.ts";
import type { CompiledTier, CompiledTool, TestedRule } from "./compiled.ts";
import type { CompiledCondition, ConditionContext } from "./conditions/condition.ts";
import { compileRuleCondition, whyUnreadable } from "./conditions/rule-condition.ts";
import type { Spending } from "./conditions/spending.ts";
import { every, type Truth } from "./conditions/truth.ts";
import type { ToolDocument, VariantKeys, VariantRule, VariantsDocument } from "./document.ts";
import { compileGlobs } from "./glob.ts";
import { merger, type Ranked, ranked } from "./merge-variants.ts";
import { type PathSegment, policyPath } from "./path.ts";

/** A variant under its display name, and the rule that chooses it, as the policy writes it. */
export interface ChosenVariant {
  readonly name: string;
  readonly rule: JsonValue;
}

/** Compiles the tool's entry with the keys of a variant in place of its own. */
export type CompileVariant = (
  variant: ChosenVariant,
  keys: VariantKeys,
  at: readonly PathSegment[],
  problems: CompileProblem[],
) => CompiledTool;

interface VariantContext {
  readonly capabilities: Capabilities;
  readonly budgets: ConditionContext["budgets"];
  readonly tiers: Tiers;
  readonly schema: CompiledJsonSchema | null;
}

export function compileVariants(
  base: CompiledTool,
  entry: ToolDocument,
  at: readonly PathSegment[],
  context: VariantContext,
  compile: CompileVariant,
  problems: CompileProblem[],
): Pick<CompiledTool, "variantOf" | "variants" | "variantRulesOf" | "testedRulesOf"> {
  const variants = entry.variants ?? {};
  const path = [...at, "variants"];
  const { argument, rules = [] } = variants;
  if (argument === undefined && (rules.length === 0 || rules.some(hasText))) {
    const message = "needs `argument`: the argument that names the called operation";
    problems.push({ path: policyPath(path), message });
    return { variantOf: null, variants: [], variantRulesOf: null, testedRulesOf: null };
  }
  checkTiers(variants, path, context.tiers, problems);
  // Problems of the tool's own keys were reported with the tool: here only those of the variants
  // count.
  const variantProblems: CompileProblem[] = problems.length > 0 ? [] : problems;
  const owner = { name: base.name, entry, schema: context.schema };
  const conditions = rules.map(({ when }, index) => {
    const within = [...path, "rules", index, "when"];
    return compileRuleCondition(when, within, owner, context, problems);
  });
  const choices = compileChoices(
    base,
    variants,
    path,
    { capabilities: context.capabilities, conditions },
    compile,
    variantProblems,
  );
  const all = [...choices.rules.map(({ variant }) => variant), choices.otherwise];
  const preset = argument === undefined ? undefined : defaultOf(entry.input_schema, argument);
  const namesNull = rules.some(({ equals }) => equals?.includes("null") === true);
  const merged = merger();
  const nameOf = (args: JsonObject): ArgumentText => {
    const written = argument === undefined ? undefined : getArgument(args, argument);
    const value = textOf(written === undefined ? preset : written, namesNull);
    // A value that is no text may still be read as one by whatever runs it, and a missing value
    // may be taken from elsewhere.
    const isSaid = value === undefined && variants.otherwise !== undefined;
    const absent = isSaid ? "none" : "unreadable";
    return typeof value === "string" ? { text: value } : absent;
  };
  const choiceOf = (args: JsonObject, spending: Spending): Chosen =>
    choose(nameOf(args), { args, spending }, choices);
  return {
    variants: [...new Set(all.map(({ tool }) => tool))],
    variantRulesOf: (args, spending) =>
      choiceOf(args, spending).possible.map((one) =>
        policyPath([...path, ...pathOfVariant(one, choices)]),
      ),
    testedRulesOf: conditions.every((condition) => condition === null)
      ? null
      : (args, spending) => testRules(nameOf(args), { args, spending }, choices),
    variantOf: (args, spending) => {
      const { possible, unread } = choiceOf(args, spending);
      if (unread.length === 0) return merged(possible);
      const tool = merged([...possible, ranked(base)]);
      return isStrict(tool.tier.action)
        ? { ...tool, why: whyUnreadable(unread, args, spending) }
        : tool;
    },
  };
}

/** Where a variant stands below `variants`. */
function pathOfVariant(one: Ranked, { rules }: Choices): readonly PathSegment[] {
  const index = rules.findIndex(({ variant }) => variant === one);
  return index < 0 ? ["otherwise"] : ["rules", index];
}

function hasText({ match, equals, like }: RuleTexts): boolean {
  return match !== undefined || equals !== undefined || like !== undefined;
}

type RuleTexts = { readonly [K in "match" | "equals" | "like"]?: VariantRule[K] | undefined };

/** A number or a boolean is compared by its JSON text; null, where a rule names it. */
function textOf(value: JsonValue | undefined, namesNull: boolean): JsonValue | undefined {
  if (value === null) return namesNull ? "null" : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

function defaultOf(schema: ToolDocument["input_schema"], argument: string): JsonValue | undefined {
  const properties = schema?.["properties"];
  const property = isObject(properties) ? properties[argument] : undefined;
  return isObject(property) ? property["default"] : undefined;
}

interface ChoiceContext {
  readonly capabilities: Capabilities;
  /** Of each rule. */
  readonly conditions: readonly (CompiledCondition | null)[];
}

const OTHERWISE = { name: "otherwise", rule: "otherwise" };

function compileChoices(
  base: CompiledTool,
  { rules = [], otherwise }: VariantsDocument,
  path: readonly PathSegment[],
  { capabilities, conditions }: ChoiceContext,
  compile: CompileVariant,
  problems: CompileProblem[],
): Choices {
  const rest =
    otherwise === undefined
      ? ranked(base)
      : ranked(compile(OTHERWISE, otherwise, [...path, "otherwise"], problems));
  const compiled = rules.map((rule, index) => {
    const at = [...path, "rules", index];
    const { match = null, equals = null, like = null, when, ...own } = rule;
    const texts = { match, equals, like };
    const written = (when === undefined ? texts : { ...texts, when }) as JsonValue;
    const chosen = { name: `rule ${index + 1}`, rule: written };
    const variant = ranked(compile(chosen, withReadOnly(own, base), at, problems));
    // Texts are names of tools, and a risk or a preset applies to them as a tier does.
    const holds =
      rule.tier !== undefined || STRICTNESS[actionOf(variant)] > STRICTNESS[actionOf(rest)];
    const onLastSegment = isStrict(actionOf(variant)) && holds;
    const context = { capabilities, onLastSegment };
    const matches = compileMatch(rule, at, { ...context, dotAll: false }, problems);
    const more = compileMatch(rule, at, { ...context, dotAll: true }, []);
    const mayMatch = (text: string): boolean => matches(text) || more(text);
    const condition = conditions[index] ?? null;
    return { hasText: hasText(rule), matches, mayMatch, condition, variant };
  });
  return { rules: compiled, otherwise: rest };
}

/** A rule describes a write unless it says otherwise; what is polled is a read, as it is for a tool. */
function withReadOnly<Keys extends VariantKeys>(keys: Keys, { effects }: CompiledTool): Keys {
  const isPolled = keys.polling !== undefined && keys.effects === undefined && effects.length === 0;
  return { read_only: isPolled, ...keys };
}

function actionOf({ tool }: Ranked): CompiledTier["action"] {
  return tool.tier.action;
}

function isStrict(action: CompiledTier["action"]): boolean {
  return action === "hitl" || action === "deny";
}

interface MatchContext {
  readonly capabilities: Capabilities;
  /** Whether a name within a meta tool's arguments is matched as a tool of that name is. */
  readonly onLastSegment: boolean;
  /**
   * Whether the dot of a pattern matches the end of a line, too. An argument of several lines must
   * not switch a rule off, and must not switch one on: a permission for the first line does not
   * extend to the others.
   */
  readonly dotAll: boolean;
}

function compileMatch(
  { match, equals, like, when }: VariantRule,
  at: readonly PathSegment[],
  { capabilities, onLastSegment, dotAll }: MatchContext,
  problems: CompileProblem[],
): (text: string) => boolean {
  const tests: ((text: string) => boolean)[] = [];
  if (equals !== undefined) tests.push((text) => equals.includes(text));
  if (like !== undefined) tests.push(compileGlobs(like, onLastSegment));
  if (match !== undefined) {
    const compiled = capabilities.compilePattern(match, { dotAll });
    if (compiled.ok) tests.push(compiled.test);
    else problems.push({ path: policyPath([...at, "match"]), message: compiled.problem });
  }
  if (!hasText({ match, equals, like }) && when === undefined) {
    const message =
      "needs `match`, `equals` or `like`, what the argument looks like, or `when`, a condition on the arguments";
    problems.push({ path: policyPath(at), message });
  }
  return (text) => tests.every((test) => test(text));
}

function checkTiers(
  { rules = [], otherwise }: VariantsDocument,
  path: readonly PathSegment[],
  tiers: Tiers,
  problems: CompileProblem[],
): void {
  const check = (keys: VariantKeys | undefined, at: readonly PathSegment[]): void => {
    if (keys?.tier === undefined || tiers.findForRule(keys.tier, "") !== null) return;
    const message = unknownTier(keys.tier);
    problems.push({ path: policyPath([...path, ...at, "tier"]), message });
  };
  rules.forEach((rule, index) => {
    check(rule, ["rules", index]);
  });
  check(otherwise, ["otherwise"]);
}

interface Choice {
  /** Whether the rule is about the text of the argument. */
  readonly hasText: boolean;
  readonly matches: (name: string) => boolean;
  /**
   * Matches more than `matches`: also names that some server may take for those. It makes a call
   * stricter and never laxer.
   */
  readonly mayMatch: (name: string) => boolean;
  readonly condition: CompiledCondition | null;
  readonly variant: Ranked;
}

interface Choices {
  readonly rules: readonly Choice[];
  readonly otherwise: Ranked;
}

/** The rules with a condition, and whether each applies. */
function testRules(
  name: ArgumentText,
  { args, spending }: { readonly args: JsonObject; readonly spending: Spending },
  { rules }: Choices,
): readonly TestedRule[] {
  return rules.flatMap((rule, index) => {
    const { condition } = rule;
    if (condition === null) return [];
    const truth = every([textTruth(rule, name), condition.evaluate(args, spending)]);
    const tests = condition.explain(args, spending);
    return [{ name: `variants.rules[${index}]`, truth, tests }];
  });
}

/** The argument of a call. `none`: it has none, so that no rule on its text applies. */
type ArgumentText = { readonly text: string } | "none" | "unreadable";

interface Chosen {
  readonly possible: readonly Ranked[];
  /** Conditions that the arguments do not answer. */
  readonly unread: readonly CompiledCondition[];
}

/** The first rule that applies, and before it each rule that may apply. */
function choose(
  name: ArgumentText,
  { args, spending }: { readonly args: JsonObject; readonly spending: Spending },
  { rules, otherwise }: Choices,
): Chosen {
  const possible: Ranked[] = [];
  const unread: CompiledCondition[] = [];
  for (const rule of rules) {
    const text = textTruth(rule, name);
    const holds = text === false ? false : (rule.condition?.evaluate(args, spending) ?? true);
    const truth = every([text, holds]);
    if (truth !== false) possible.push(rule.variant);
    if (truth === true) return { possible, unread };
    if (rule.condition !== null && holds === "unreadable") unread.push(rule.condition);
  }
  const all = name === "unreadable" ? [otherwise, ...possible] : [...possible, otherwise];
  return { possible: all, unread };
}

function textTruth({ hasText: isAsked, matches, mayMatch }: Choice, name: ArgumentText): Truth {
  if (!isAsked) return true;
  if (name === "none") return false;
  if (name === "unreadable") return "unreadable";
  if (matches(name.text)) return true;
  return mayMatch(name.text) ? "unreadable" : false;
}
