/** Tools of commands: what a call does is read from a line, a statement, a request or a path. */

import {
  type DoesOnRepeat,
  judgeParts,
  type PartJudgement,
  type Rules,
} from "../../commands/rules/judge-parts.ts";
import type { Vocabulary } from "../../commands/rules/part.ts";
import {
  createPositions,
  DEFAULT_READABLE,
  DEFAULT_SECRETS,
} from "../../commands/rules/position.ts";
import {
  type CallReader,
  createReader,
  type ReadCall,
  type ReaderSettings,
} from "../../commands/rules/read-call.ts";
import { compileRule } from "../../commands/rules/rule.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { Capabilities } from "../capabilities.ts";
import { cutText } from "../cut-text.ts";
import { sha256Hex } from "../hash.ts";
import { getArgument, isObject } from "./argument-path.ts";
import { commandArgument } from "./command-argument.ts";
import { checkExamples } from "./command-examples.ts";
import type { CompileProblem, IdentityStep } from "./compile-identity.ts";
import { STRICTNESS, type Tiers, unknownTier } from "./compile-tiers.ts";
import type { ChosenVariant, CompileVariant } from "./compile-variants.ts";
import type { CompiledTier, CompiledTool, JudgedCommand } from "./compiled.ts";
import {
  createRuleChooser,
  type RuleChooser,
  type RulesOfCall,
  testRules,
} from "./conditional-rules.ts";
import type { CompiledCondition } from "./conditions/condition.ts";
import { whyUnreadable } from "./conditions/rule-condition.ts";
import type { Spending } from "./conditions/spending.ts";
import type { CommandRule, CommandsDocument, ToolDocument, VariantKeys } from "./document.ts";
import { merger, type Ranked, ranked } from "./merge-variants.ts";
import { type PathSegment, policyPath } from "./path.ts";

/** The keys of a part that does so, where the policy says nothing. */
const KEYS_BY_DOES: Readonly<Record<DoesOnRepeat, VariantKeys>> = {
  read: { read_only: true },
  watch: { read_only: true, volatile: true },
  run: { read_only: false, repeatable: true },
  write: { read_only: false },
};

const DOES_ON_REPEAT: readonly DoesOnRepeat[] = ["read", "watch", "run", "write"];

type ToolsByDoes = Readonly<Record<DoesOnRepeat, Ranked>>;

/**
 * The tools that judge parts: of each rule, of what is understood without a rule, and of what is
 * unclear.
 */
interface RuleTools {
  readonly rules: readonly ToolsByDoes[];
  readonly understood: ToolsByDoes;
  readonly unclear: ToolsByDoes;
}

/** One reading of a call for all who ask about it. */
export interface CommandsReader {
  readonly read: CallReader;
  readonly vocabulary: Vocabulary;
  /** The form under which the argument is compared with that of other calls; null: as it stands. */
  readonly step: IdentityStep | null;
}

export function createCommandsReader(
  entry: ToolDocument,
  document: CommandsDocument,
  { programs }: Capabilities,
): CommandsReader {
  const { workspace = ".", readable = [], secrets = DEFAULT_SECRETS, assignments = [] } = document;
  const positions = createPositions({
    workspace,
    readable: [...DEFAULT_READABLE, ...readable],
    secrets,
  });
  const vocabulary = { programs: programs(), positions, assignments: new Set(assignments) };
  const settings = settingsOf(entry, document);
  const read = createReader(settings, vocabulary);
  if (settings.language === "http" || settings.language === "files")
    return { read, vocabulary, step: null };
  const identify = (value: JsonValue, args: JsonObject): JsonValue =>
    typeof value === "string" ? (read(value, args).identity ?? value) : value;
  const run: IdentityStep["run"] = (value, args) => ({
    ok: true,
    value: identify(value, args ?? {}),
  });
  return { read, vocabulary, step: { field: settings.argument, run } };
}

function settingsOf(entry: ToolDocument, document: CommandsDocument): ReaderSettings {
  return {
    language: document.language ?? "shell",
    argument: commandArgument(document),
    functions: new Set((document.functions ?? []).map((name) => name.toLowerCase())),
    access: entry.read_only === true ? "read" : "write",
  };
}

type CommandTools = Pick<CompiledTool, "variantOf" | "variants" | "commandsOf" | "testedRulesOf">;

/** Compiles the condition of a rule; null: it has none. */
type CompileCondition = (
  when: CommandRule["when"],
  at: readonly PathSegment[],
) => CompiledCondition | null;

export function compileCommands(
  entry: ToolDocument,
  document: CommandsDocument,
  at: readonly PathSegment[],
  reader: CommandsReader,
  tiers: Tiers,
  compile: CompileVariant,
  conditionOf: CompileCondition,
  problems: CompileProblem[],
): CommandTools {
  const path = [...at, "commands"];
  checkTiers(document, path, tiers, problems);
  // Keys of the tool itself were looked at with the tool: only those of the rules count here.
  const ruleProblems: CompileProblem[] = problems.length > 0 ? [] : problems;
  const compileByDoes = (
    variant: ChosenVariant,
    keys: VariantKeys,
    where: readonly PathSegment[],
  ): ToolsByDoes => {
    const made = DOES_ON_REPEAT.map((does) => {
      // All have the same keys, so the same problems: one of them reports them.
      const into = does === "write" ? ruleProblems : [];
      return [
        does,
        ranked(compile(variant, { ...KEYS_BY_DOES[does], ...keys }, where, into)),
      ] as const;
    });
    return Object.fromEntries(made) as Record<DoesOnRepeat, Ranked>;
  };
  const rules = document.rules ?? [];
  const ruleTools: RuleTools = {
    rules: rules.map((rule, index) =>
      compileByDoes(variantOfRule(rule, index), keysOf(rule), [...path, "rules", index]),
    ),
    understood: compileByDoes({ name: "understood", rule: "understood" }, {}, path),
    unclear: compileByDoes({ name: "unclear", rule: "unclear" }, unclearKeys(document, tiers), [
      ...path,
      "unclear",
    ]),
  };
  const compiled = compileRules(document, ruleTools, path, reader.vocabulary, problems);
  const conditions = rules.map(({ when }, index) =>
    conditionOf(when, [...path, "rules", index, "when"]),
  );
  const choose = createRuleChooser(compiled, conditions);
  const judge = { rules: compiled, conditions, choose };
  const compiledCommands = compileJudge(entry, document, path, reader.read, judge, ruleTools);
  if (problems.length === 0) checkExamples(document, path, compiledCommands, problems);
  return compiledCommands;
}

function variantOfRule(rule: CommandRule, index: number): ChosenVariant {
  const { run, statement, method } = rule;
  const words = run ?? statement ?? method;
  const name = words === undefined ? `rule ${index + 1}` : words.join(", ");
  return { name, rule: conditionsOf(rule) };
}

function conditionsOf(rule: CommandRule) {
  const { run, paths, writes, statement, tables, method, host, path, when } = rule;
  const written = { run, paths, writes, statement, tables, method, host, path, when };
  return JSON.parse(JSON.stringify(written)) as JsonObject;
}

function keysOf(rule: CommandRule): VariantKeys {
  const { run: _run, paths: _paths, writes: _writes, why: _why, ...more } = rule;
  const {
    statement: _statement,
    tables: _tables,
    method: _method,
    host: _host,
    path: _path,
    when: _when,
    ...keys
  } = more;
  return keys;
}

/**
 * The strictest tier that a rule names, and at least approval by a person. Without rules nothing is
 * added, so the tool's own tier decides.
 */
function unclearKeys({ unclear: tier, rules = [] }: CommandsDocument, tiers: Tiers): VariantKeys {
  if (tier !== undefined) return { tier };
  if (rules.length === 0) return {};
  const strictest = rules.reduce<RuleTier | null>((most, { tier: name }) => {
    const tierOfRule = name === undefined ? null : tiers.findForRule(name, "");
    if (name === undefined || tierOfRule === null) return most;
    const isStricter =
      most === null || STRICTNESS[tierOfRule.action] > STRICTNESS[most.tier.action];
    return isStricter ? { name, tier: tierOfRule } : most;
  }, null);
  if (strictest === null || !isStrict(strictest.tier)) return { risk_level: "HIGH" };
  return { tier: strictest.name };
}

/** A tier under the name that a rule has for it. */
interface RuleTier {
  readonly name: string;
  readonly tier: CompiledTier;
}

function isStrict({ action }: CompiledTier): boolean {
  return action === "hitl" || action === "deny";
}

function compileRules(
  { rules = [], session = true }: CommandsDocument,
  ruleTools: RuleTools,
  path: readonly PathSegment[],
  { programs, positions }: Vocabulary,
  problems: CompileProblem[],
): Rules {
  const compiled = rules.map((rule, index) => {
    const report = (key: string, message: string): void => {
      problems.push({ path: policyPath([...path, "rules", index, key]), message });
    };
    const { fits } = compileRule(rule, programs, positions, report);
    return { fits, isStrict: isStrict((ruleTools.rules[index] as ToolsByDoes).write.tool.tier) };
  });
  return { rules: compiled, isSession: session };
}

interface Judge {
  readonly rules: Rules;
  /** Of each rule; null: the rule has none. */
  readonly conditions: readonly (CompiledCondition | null)[];
  readonly choose: RuleChooser;
}

function compileJudge(
  entry: ToolDocument,
  document: CommandsDocument,
  path: readonly PathSegment[],
  read: CallReader,
  judge: Judge,
  ruleTools: RuleTools,
): CommandTools {
  const argument = commandArgument(document);
  const preset = defaultOf(entry.input_schema, argument);
  const reason = `the argument ${argument} is missing`;
  const missing: ReadCall = { parts: [], unread: { text: argument, reason }, identity: null };
  const readOf = (args: JsonObject): ReadCall => {
    const written = getArgument(args, argument);
    const value = written === undefined ? preset : written;
    return value === undefined ? missing : read(value, args);
  };
  const toolFor = ({ by, does }: PartJudgement): Ranked =>
    (typeof by === "number" ? (ruleTools.rules[by] as ToolsByDoes) : ruleTools[by])[does];
  const noteOf = (judgement: PartJudgement): JudgedCommand => {
    const { tool } = toolFor(judgement);
    const key =
      typeof judgement.by === "number"
        ? ["rules", judgement.by]
        : judgement.by === "understood"
          ? []
          : ["unclear"];
    const why =
      typeof judgement.by === "number" ? document.rules?.[judgement.by]?.why : judgement.reason;
    const rule = policyPath([...path, ...key]);
    return { text: judgement.text, rule, tier: tool.tier, isRead: tool.isRead, why: why ?? null };
  };
  const merged = merger();
  const choose = (judgements: readonly PartJudgement[]): CompiledTool => {
    // An empty line waits for what still comes.
    if (judgements.length === 0) return ruleTools.understood.watch.tool;
    const tool = merged(judgements.map(toolFor));
    if (!isStrict(tool.tier)) return tool;
    const why = whyOf(judgements.map(noteOf), tool.tier);
    return { ...askedAlone(tool, judgements), why };
  };
  const judgeOf = (args: JsonObject, spending: Spending): RulesOfCall =>
    judge.choose?.(args, spending) ?? { rules: judge.rules, key: "", unread: [] };
  const chosen = new WeakMap<ReadCall, Map<string, CompiledTool>>();
  const all = [ruleTools.understood, ruleTools.unclear, ...ruleTools.rules];
  return {
    variants: [...new Set(all.flatMap((one) => DOES_ON_REPEAT.map((does) => one[does].tool)))],
    commandsOf: (args, spending) =>
      judgeParts(readOf(args), judgeOf(args, spending).rules).map(noteOf),
    testedRulesOf:
      judge.choose === null
        ? null
        : (args, spending) =>
            testRules(readOf(args).parts, judge.rules, judge.conditions, { args, spending }),
    variantOf: (args, spending) => {
      const call = readOf(args);
      const { rules, key, unread } = judgeOf(args, spending);
      const cached = chosen.get(call)?.get(key);
      if (cached !== undefined) return cached;
      const tool = choose(judgeParts(call, rules));
      if (unread.length > 0) {
        const why = whyUnreadable(unread, args, spending);
        return tool.why === null ? tool : { ...tool, why: `${tool.why}; ${why}` };
      }
      chosen.set(call, (chosen.get(call) ?? new Map<string, CompiledTool>()).set(key, tool));
      return tool;
    },
  };
}

/** What no rule names is asked about by its own text: further calls of it serve no other command. */
function askedAlone(tool: CompiledTool, judgements: readonly PartJudgement[]): CompiledTool {
  const texts = judgements.filter(({ by }) => typeof by !== "number").map(({ text }) => text);
  if (texts.length === 0) return tool;
  const digestInput = JSON.stringify([tool.ruleDigest, ...new Set(texts)]);
  const variant = cutText(texts.join("; "), SHOWN_COMMANDS);
  return { ...tool, variant, ruleDigest: sha256Hex("callgate.commands.v1", digestInput) };
}

/** UTF-16 units of the commands that a person is shown as what further calls are of. */
const SHOWN_COMMANDS = 120;

const REASONS_MAX = 3;

/** Controls, and signs that turn the direction of a text: a message shows none of a call's. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Of the commands that are as strict as the call. */
function whyOf(notes: readonly JudgedCommand[], { action }: CompiledTier): string {
  const decisive = notes.filter(({ tier }) => tier.action === action);
  const said = decisive.map(({ text, why }) => {
    const shown = `\`${text.replaceAll("`", "'")}\``;
    return (why === null ? shown : `${shown}: ${why}`).replaceAll(UNSEEN, "\ufffd");
  });
  return [...new Set(said)].slice(0, REASONS_MAX).join("; ");
}

function defaultOf(schema: ToolDocument["input_schema"], argument: string): JsonValue | undefined {
  const properties = schema?.["properties"];
  const property = isObject(properties) ? properties[argument] : undefined;
  return isObject(property) ? property["default"] : undefined;
}

function checkTiers(
  { rules = [], unclear: tier }: CommandsDocument,
  path: readonly PathSegment[],
  tiers: Tiers,
  problems: CompileProblem[],
): void {
  const check = (name: string | undefined, key: readonly PathSegment[]): void => {
    if (name === undefined || tiers.findForRule(name, "") !== null) return;
    problems.push({ path: policyPath([...path, ...key]), message: unknownTier(name) });
  };
  rules.forEach((rule, index) => {
    check(rule.tier, ["rules", index, "tier"]);
  });
  check(tier, ["unclear"]);
}
