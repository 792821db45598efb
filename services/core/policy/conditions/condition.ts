/** Compiles the key `when` of a rule into a pure test of a call's arguments. */
import type { JsonObject } from "../../canonical/json-value.ts";
import type { ValueCapabilities } from "../../capabilities.ts";
import type { CompileProblem } from "../compile-identity.ts";
import type { ArgumentTests, Condition } from "../document.ts";
import { type PathSegment, policyPath } from "../path.ts";
import { compileTest, TESTS, type ValueTest } from "./argument-test.ts";
import { valuesAt } from "./document-path.ts";
import { compileSpentTests, SPENT, type Spending } from "./spending.ts";
import { every, some, type TestedArgument, type Truth } from "./truth.ts";

/** What `when` may be: one map, or a list of maps of which one must hold. */
export type ConditionDocument = Condition | readonly Condition[];

export interface CompiledCondition {
  /** Total: whatever the arguments are, there is an answer. */
  readonly evaluate: (args: JsonObject, spending: Spending) => Truth;
  readonly explain: (args: JsonObject, spending: Spending) => readonly TestedArgument[];
}

export interface ConditionContext {
  readonly capabilities: ValueCapabilities;
  /** Names of the budgets that a condition may ask about; null: it may ask about none. */
  readonly budgets: ReadonlySet<string> | null;
}

export function compileCondition(
  written: ConditionDocument,
  at: readonly PathSegment[],
  context: ConditionContext,
  problems: CompileProblem[],
): CompiledCondition {
  const alternatives = alternativesOf(written, at).map(({ condition, at: path }) =>
    Object.entries(condition).flatMap(([argument, tests]) => {
      const within = [...path, argument];
      return tests.budget === undefined
        ? compileArgument(argument, tests, within, context.capabilities, problems)
        : compileSpent(argument, tests, within, context, problems);
    }),
  );
  return {
    evaluate: (args, spending) =>
      some(
        alternatives.map((tests) => every(tests.map(({ evaluate }) => evaluate(args, spending)))),
      ),
    explain: (args, spending) =>
      alternatives.flatMap((tests) =>
        tests.map(({ text, evaluate }) => ({ text, truth: evaluate(args, spending) })),
      ),
  };
}

/** Each map with its path in the policy. */
export function alternativesOf(
  written: ConditionDocument,
  at: readonly PathSegment[],
): readonly { readonly condition: Condition; readonly at: readonly PathSegment[] }[] {
  if (!isList(written)) return [{ condition: written, at }];
  return written.map((condition, index) => ({ condition, at: [...at, index] }));
}

function isList(written: ConditionDocument): written is readonly Condition[] {
  return Array.isArray(written);
}

interface CompiledTest {
  readonly text: string;
  readonly evaluate: (args: JsonObject, spending: Spending) => Truth;
}

function compileSpent(
  argument: string,
  tests: ArgumentTests,
  at: readonly PathSegment[],
  { capabilities, budgets }: ConditionContext,
  problems: CompileProblem[],
): readonly CompiledTest[] {
  const report = (key: string, message: string): void => {
    problems.push({ path: policyPath([...at, key]), message });
  };
  const { budget = "" } = tests;
  if (argument !== SPENT) {
    report("budget", `\`budget\` belongs under \`${SPENT}\`: write ${SPENT}: { budget: … }`);
  } else if (budgets === null) {
    report("budget", "a budget cannot count by what a budget has spent: test arguments only");
  } else if (!budgets.has(budget)) {
    report(
      "budget",
      `\`${budget}\` is no budget of this policy: add it under \`budgets.by_name\`, or correct the name`,
    );
  }
  return compileSpentTests(tests, capabilities, report).map(({ text, evaluate }) => ({
    text,
    evaluate: (_, spending) => evaluate(spending),
  }));
}

/** All tests of an argument; each must hold for each element where the path goes through lists. */
function compileArgument(
  argument: string,
  tests: ArgumentTests,
  at: readonly PathSegment[],
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): readonly CompiledTest[] {
  const compiled: CompiledTest[] = [];
  for (const name of TESTS) {
    if (tests[name] === undefined) continue;
    const test = compileTest(name, tests, capabilities);
    if (typeof test === "string") {
      problems.push({ path: policyPath([...at, name]), message: test });
      continue;
    }
    const text = `${argument} ${name} ${JSON.stringify(tests[name])}`;
    compiled.push({ text, evaluate: (args) => forEach(args, argument, test) });
  }
  return compiled;
}

/** An empty list says nothing about its elements. */
function forEach(args: JsonObject, argument: string, test: ValueTest): Truth {
  const values = valuesAt(args, argument);
  if (values.length === 0) return "unreadable";
  return every(values.map((value) => test(value, args)));
}
