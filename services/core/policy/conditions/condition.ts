/** Compiles the key `when` of a rule into a pure test of a call's arguments. */
import type { JsonObject } from "../../canonical/json-value.ts";
import type { ValueCapabilities } from "../../capabilities.ts";
import type { CompileProblem } from "../compile-identity.ts";
import type { ArgumentTests, Condition } from "../document.ts";
import { type PathSegment, policyPath } from "../path.ts";
import { compileTest, TESTS, type ValueTest } from "./argument-test.ts";
import { valuesAt } from "./document-path.ts";
import { every, some, type TestedArgument, type Truth } from "./truth.ts";

/** What `when` may be: one map, or a list of maps of which one must hold. */
export type ConditionDocument = Condition | readonly Condition[];

export interface CompiledCondition {
  /** Total: whatever the arguments are, there is an answer. */
  readonly evaluate: (args: JsonObject) => Truth;
  readonly explain: (args: JsonObject) => readonly TestedArgument[];
}

export function compileCondition(
  written: ConditionDocument,
  at: readonly PathSegment[],
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): CompiledCondition {
  const alternatives = alternativesOf(written, at).map(({ condition, at: path }) =>
    Object.entries(condition).flatMap(([argument, tests]) =>
      compileArgument(argument, tests, [...path, argument], capabilities, problems),
    ),
  );
  return {
    evaluate: (args) =>
      some(alternatives.map((tests) => every(tests.map(({ evaluate }) => evaluate(args))))),
    explain: (args) =>
      alternatives.flatMap((tests) =>
        tests.map(({ text, evaluate }) => ({ text, truth: evaluate(args) })),
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
  readonly evaluate: (args: JsonObject) => Truth;
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
