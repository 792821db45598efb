/** Composite tools: which class a call has depends on one of its arguments. */
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { Capabilities } from "../capabilities.ts";
import { VARIANT_CLASSES, type VariantClass } from "../variants/variant-class.ts";
import { getArgument, isObject } from "./argument-path.ts";
import { type Choices, chooser, unreadable } from "./choose-variant.ts";
import type { CompileProblem } from "./compile-identity.ts";
import { STRICTNESS, type Tiers } from "./compile-tiers.ts";
import type { CompiledTier, CompiledTool } from "./compiled.ts";
import type { ToolDocument, VariantKeys, VariantRule, VariantsDocument } from "./document.ts";
import { compileGlobs } from "./glob.ts";
import { merger, type Ranked, ranked } from "./merge-variants.ts";
import { optionsAsked } from "./options-asked.ts";
import { type PathSegment, policyPath } from "./path.ts";
import { compileCanFit } from "./rule-beginnings.ts";

/** Compiles the tool's entry with the keys of a variant in place of its own. */
export type CompileVariant = (
  variant: { readonly name: string; readonly rule: JsonValue },
  keys: VariantKeys,
  at: readonly PathSegment[],
  problems: CompileProblem[],
) => CompiledTool;

interface VariantContext {
  readonly capabilities: Capabilities;
  readonly tiers: Tiers;
}

const ARGUMENTS = { posix_shell: "command", git: "command", sql: "query", http: "method" } as const;

/** The argument that the class depends on; undefined: none is named. */
export function variantArgument({ set, argument }: VariantsDocument): string | undefined {
  return argument ?? (set === undefined ? undefined : ARGUMENTS[set]);
}

export function compileVariants(
  base: CompiledTool,
  entry: ToolDocument,
  at: readonly PathSegment[],
  context: VariantContext,
  compile: CompileVariant,
  problems: CompileProblem[],
): Pick<CompiledTool, "variantOf" | "variants"> {
  const variants = entry.variants ?? {};
  const path = [...at, "variants"];
  const argument = variantArgument(variants);
  if (argument === undefined) {
    const message = "needs `argument`: the one that the class depends on";
    problems.push({ path: policyPath(path), message });
    return { variantOf: null, variants: [] };
  }
  checkTiers(variants, path, context.tiers, problems);
  // Keys of the tool itself were looked at with the tool: only those of the variants count here.
  const found: CompileProblem[] = problems.length > 0 ? [] : problems;
  const choices = compileChoices(base, variants, path, context.capabilities, compile, found);
  const all = new Set<CompiledTool>();
  for (const byClass of [choices.byClass, ...choices.rules.map((rule) => rule.byClass)]) {
    for (const one of VARIANT_CLASSES) all.add(byClass[one].tool);
  }
  all.add(choices.otherwise.tool);
  const choose = chooser(variants, choices);
  const preset = defaultOf(entry.input_schema, argument);
  const merged = merger();
  const unread = merged([...unreadable(choices), choices.otherwise]);
  return {
    variants: [...all],
    variantOf: (args: JsonObject) => {
      const given = getArgument(args, argument);
      const value = given === undefined ? preset : given;
      if (typeof value === "string") return merged(choose(value, args));
      // What is no text may be taken for one by whoever runs it, and what is not there be looked for elsewhere.
      const isSaid = value === undefined && variants.otherwise !== undefined;
      return isSaid ? choices.otherwise.tool : unread;
    },
  };
}

function defaultOf(schema: ToolDocument["input_schema"], argument: string): JsonValue | undefined {
  const properties = schema?.["properties"];
  const property = isObject(properties) ? properties[argument] : undefined;
  return isObject(property) ? property["default"] : undefined;
}

/** What each class says, where the policy says nothing. */
const CLASS_KEYS: Readonly<Record<VariantClass, VariantKeys>> = {
  read: { read_only: true },
  watch: { read_only: true, volatile: true },
  run: { read_only: false, repeatable: true },
  write: { read_only: false },
};

const OTHERWISE = { name: "otherwise", rule: "otherwise" };

/** The class chooses where no rule does. */
function ofClass(one: VariantClass): { readonly name: string; readonly rule: JsonValue } {
  return { name: one, rule: { class: one } };
}

function compileChoices(
  base: CompiledTool,
  variants: VariantsDocument,
  path: readonly PathSegment[],
  capabilities: Capabilities,
  compile: CompileVariant,
  problems: CompileProblem[],
): Choices {
  const byClass = {} as Record<VariantClass, Ranked>;
  for (const one of VARIANT_CLASSES) {
    const keys = { ...CLASS_KEYS[one], ...variants.classes?.[one] };
    byClass[one] = ranked(compile(ofClass(one), keys, [...path, "classes", one], problems));
  }
  const { otherwise } = variants;
  const rest =
    otherwise === undefined
      ? variants.set === undefined
        ? ranked(base)
        : byClass.write
      : ranked(compile(OTHERWISE, otherwise, [...path, "otherwise"], problems));
  const rules = (variants.rules ?? []).map((rule, index) => {
    const at = [...path, "rules", index];
    const { match = null, equals = null, like = null, ...own } = rule;
    const variant = { name: `rule ${index + 1}`, rule: { match, equals, like } };
    const inClass = (one: VariantClass): Ranked => {
      const keys = { ...CLASS_KEYS[one], ...variants.classes?.[one], ...own };
      // All classes of a rule have the same keys, so the same problems: one of them tells them.
      return ranked(compile(variant, keys, at, one === "write" ? problems : []));
    };
    const [read, watch, run, write] = VARIANT_CLASSES.map(inClass) as [
      Ranked,
      Ranked,
      Ranked,
      Ranked,
    ];
    // Without a set the texts are names of tools, and a risk or a preset may hold them as a tier does. A command is no name.
    const holds =
      rule.tier !== undefined || STRICTNESS[actionOf(write)] > STRICTNESS[actionOf(rest)];
    const onLastSegment = variants.set === undefined && isStrict(actionOf(write)) && holds;
    const { exact, loose } = READINGS[variants.set ?? "none"];
    const matches = compileMatch(rule, at, { capabilities, onLastSegment, ...exact }, problems);
    const more = loose && compileMatch(rule, at, { capabilities, onLastSegment, ...loose }, []);
    const mayMatch = more ? (text: string) => matches(text) || more(text) : matches;
    const options = variants.set === "posix_shell" ? optionsAsked(rule) : [];
    const canFit = compileCanFit(rule);
    return { matches, mayMatch, options, canFit, byClass: { read, watch, run, write } };
  });
  return { byClass, rules, otherwise: rest };
}

function actionOf({ tool }: Ranked): CompiledTier["action"] {
  return tool.tier.action;
}

function isStrict(action: CompiledTier["action"]): boolean {
  return action === "hitl" || action === "deny";
}

interface Reading {
  /** Small letters and capitals are the same. */
  readonly anyCase?: boolean;
  /** The dot of a pattern is the end of a line, too. */
  readonly dotAll?: boolean;
}

/** Which texts a rule is about, and which it may be about; null: no others. */
interface Readings {
  readonly exact: Reading;
  readonly loose: Reading | null;
}

/**
 * An argument of several lines switches no rule off. Nor does it bring one: where nobody looked what ends at the end
 * of a line, a permission for what begins in the first is none for the others.
 */
const READINGS: Readonly<Record<NonNullable<VariantsDocument["set"]> | "none", Readings>> = {
  posix_shell: { exact: { dotAll: true }, loose: null },
  git: { exact: { dotAll: true }, loose: null },
  sql: { exact: { dotAll: true }, loose: { dotAll: true, anyCase: true } },
  http: { exact: { dotAll: true }, loose: { dotAll: true, anyCase: true } },
  none: { exact: {}, loose: { dotAll: true } },
};

/** `onLastSegment`: a name within a meta tool's arguments is held as the tool of that name is. */
interface MatchContext extends Reading {
  readonly capabilities: Capabilities;
  readonly onLastSegment: boolean;
}

function compileMatch(
  { match, equals, like }: VariantRule,
  at: readonly PathSegment[],
  { capabilities, onLastSegment, anyCase = false, dotAll = false }: MatchContext,
  problems: CompileProblem[],
): (text: string) => boolean {
  const tests: ((text: string) => boolean)[] = [];
  const lower = (text: string): string => (anyCase ? text.toLowerCase() : text);
  if (equals !== undefined) {
    const texts = equals.map(lower);
    tests.push((text) => texts.includes(lower(text)));
  }
  if (like !== undefined) {
    const fits = compileGlobs(lower(like), onLastSegment);
    tests.push((text) => fits(lower(text)));
  }
  if (match !== undefined) {
    const compiled = capabilities.compilePattern(match, { dotAll, ignoreCase: anyCase });
    if (compiled.ok) tests.push(compiled.test);
    else problems.push({ path: policyPath([...at, "match"]), message: compiled.problem });
  }
  if (equals === undefined && like === undefined && match === undefined) {
    const message = "needs `match`, `equals` or `like`: what the argument looks like";
    problems.push({ path: policyPath(at), message });
  }
  return (text) => tests.every((test) => test(text));
}

function checkTiers(
  { classes = {}, rules = [], otherwise }: VariantsDocument,
  path: readonly PathSegment[],
  tiers: Tiers,
  problems: CompileProblem[],
): void {
  const check = (keys: VariantKeys | undefined, at: readonly PathSegment[]): void => {
    if (keys?.tier === undefined || tiers.named(keys.tier) !== null) return;
    const message = `\`${keys.tier}\` is not the name of a tier of this policy`;
    problems.push({ path: policyPath([...path, ...at, "tier"]), message });
  };
  for (const one of VARIANT_CLASSES) check(classes[one], ["classes", one]);
  rules.forEach((rule, index) => {
    check(rule, ["rules", index]);
  });
  check(otherwise, ["otherwise"]);
}
