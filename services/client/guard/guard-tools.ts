/** Wraps the functions of a program: finds them, declares them, and lets each ask the gate. */

import { readToolName } from "../../core/tool-name.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type {
  AnswerForm,
  CallOptions,
  GuardContext,
  GuardOptions,
  ProposedCall,
} from "../api/gate-types.ts";
import type { GuardTools } from "../api/guard-types.ts";
import { isGeneratorFunction, readableAnswer } from "../calls/generators.ts";
import type { Handler } from "../calls/run-call.ts";
import { callOf, type DecisionHook, notifyListener } from "../decisions/decision-hook.ts";
import type { Proposed } from "../gate-client.ts";
import type { GateLink } from "../gate-link.ts";
import { checkGuardOptions } from "../inputs/check-options.ts";
import type { Guard } from "./guard.ts";

type Context = GuardContext | (() => GuardContext);
type GuardedTool = (args?: object | string, call?: CallOptions) => unknown;
type ToolsAtHand = { readonly object: object; readonly names: readonly string[] };

export type GuardToolsParts = {
  readonly guard: Guard;
  readonly link: Pick<GateLink, "knowTools">;
  /** Hears of each decision, before the listener of the options does. */
  readonly hook: DecisionHook;
};

/** Makes the `guard` of a gate. */
export function guardToolsWith(parts: GuardToolsParts): GuardTools {
  const guardTools = (
    tools: unknown,
    second: unknown,
    third?: unknown,
    fourth?: unknown,
  ): unknown => {
    if (typeof tools !== "string") {
      return wrapAll(parts, tools, second as Context, third as GuardOptions | undefined);
    }
    const one = { [tools]: second };
    return wrapAll(parts, one, third as Context, fourth as GuardOptions | undefined)[tools];
  };
  return guardTools as GuardTools;
}

function wrapAll(
  { guard, link, hook }: GuardToolsParts,
  tools: unknown,
  context: Context,
  options: GuardOptions<AnswerForm> = {},
): Readonly<Record<string, GuardedTool>> {
  checkGuardOptions(options);
  const { object, names } = findTools(tools);
  for (const name of names) assertTool(name, Reflect.get(object, name));
  link.knowTools(names);
  const onAnswer = (proposed: Proposed, call: ProposedCall): void => {
    hook.answered(proposed, call);
    notifyListener(options.onDecision, proposed.decision, callOf(proposed, call));
  };
  const form = { answers: options.answers, onAnswer };
  const guarded = names.map((name): readonly [string, GuardedTool] => {
    const handler: Handler = (args, call) =>
      Reflect.apply(Reflect.get(object, name) as Handler, object, [args, call]);
    const isStream = isGeneratorFunction(Reflect.get(object, name));
    // The caller receives a stream as it comes, so there is nothing to wrap.
    const toolForm = isStream ? { ...form, answers: "bare" as const } : form;
    const run = async (args?: object | string, call: CallOptions = {}): Promise<unknown> => {
      const callContext = typeof context === "function" ? context() : context;
      return guard.call(name, handler, args, { ...callContext, ...call }, toolForm);
    };
    return [name, (...call) => (isStream ? readableAnswer(run(...call)) : run(...call))];
  });
  return Object.fromEntries(guarded);
}

/**
 * The functions of an object. Of a plain object every member must be one; of an instance the
 * methods count, those of its class and of the classes above it.
 */
function findTools(tools: unknown): ToolsAtHand {
  if (typeof tools === "function") {
    const what = isClass(tools)
      ? "a class: pass an instance of it"
      : "a function: pass its name first";
    throw cannotGuard(`this is ${what}`);
  }
  if (typeof tools !== "object" || tools === null || Array.isArray(tools)) {
    throw cannotGuard("pass an object whose members are functions");
  }
  if (isPlain(tools)) return { object: tools, names: Object.keys(tools) };
  const names = methodNames(tools);
  if (names.length > 0) return { object: tools, names };
  throw cannotGuard("the instance has no methods, neither of its own nor of its class");
}

function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Getters are not read: one may do anything. */
function methodNames(instance: object): readonly string[] {
  const names = new Set<string>();
  const seen = new Set(["constructor"]);
  for (let at = instance; !isRoot(at); at = Object.getPrototypeOf(at) as object) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      // A member of a class hides those of the classes above it.
      if (!seen.has(name) && typeof value === "function") names.add(name);
      seen.add(name);
    }
  }
  return [...names];
}

/** `Object.prototype`, of whatever realm, has nothing that an author wrote. */
function isRoot(value: object): boolean {
  return Object.getPrototypeOf(value) === null;
}

function assertTool(name: string, handler: unknown): void {
  const problem =
    nameProblem(name) ?? (typeof handler === "function" ? undefined : "it is not a function");
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the tool \`${name}\` cannot be guarded: ${problem}`);
}

function cannotGuard(problem: string): CallgateError {
  return new CallgateError("invalid_input", `the tools cannot be guarded: ${problem}`);
}

/** Tool names must be in the form into which the gate normalizes them. */
function nameProblem(name: string): string | undefined {
  const read = readToolName(name);
  if (!read.ok) return read.problem;
  return read.name === name ? undefined : `write its name as \`${read.name}\``;
}
