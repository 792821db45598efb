import type { WrappedAnswer } from "../guard/present-answer.ts";
import type {
  AnswerForm,
  CallOptions,
  GuardContext,
  GuardOptions,
  HandlerCall,
} from "./gate-types.ts";
import type { Refused } from "./refused.ts";

/** A function that acts for an agent. Its first parameter is the call's arguments. */
export type ToolHandler = (args: never, call: HandlerCall) => unknown;

export type Tools = Readonly<Record<string, ToolHandler>>;

/** An object with at least one function; its other members are left alone. */
type WithTools<T> = keyof Guarded<T> extends never ? never : T;

type GuardedTool<Parameters extends readonly unknown[], Answer> = [] extends Parameters
  ? (args?: ArgumentsOf<Parameters> | string, options?: CallOptions) => Answer
  : (args: ArgumentsOf<Parameters> | string, options?: CallOptions) => Answer;

/** Of a function without parameters any arguments are journaled, and none are passed. */
type ArgumentsOf<Parameters extends readonly unknown[]> = Parameters extends readonly []
  ? object
  : Parameters[0];

type AnswerOf<Result, Form extends AnswerForm> = Form extends "wrapped"
  ? WrappedAnswer<Result>
  : Result;

/**
 * A generator is read while it runs. The caller either awaits the answer first or iterates it at
 * once; in the second case a refusal is the only value it yields. It is never wrapped: the caller
 * receives the yielded values as they come.
 */
type Answer<Result, Form extends AnswerForm> = [Result] extends [
  Generator<infer Y, infer R, infer N> | AsyncGenerator<infer Y, infer R, infer N>,
]
  ? Promise<AsyncGenerator<Y, R, N> | Refused> & AsyncIterable<Y | Refused>
  : Promise<AnswerOf<Awaited<Result>, Form> | Refused>;

/**
 * The same functions behind the gate. Arguments may also be the JSON text that a model wrote. A
 * call that does not run returns `Refused`; what the function throws is thrown.
 */
export type Guarded<T, Form extends AnswerForm = "noted"> = {
  readonly [Name in keyof T as NonNullable<T[Name]> extends ToolHandler
    ? Name
    : never]: NonNullable<T[Name]> extends (...parameters: infer Parameters) => infer Result
    ? GuardedTool<Parameters, Answer<Result, Form>>
    : never;
};

/** The forms of `guard`. */
export interface GuardTools {
  <T extends Tools, Form extends AnswerForm = "noted">(
    tools: T,
    context: GuardContext | (() => GuardContext),
    options?: GuardOptions<Form>,
  ): Guarded<T, Form>;
  /**
   * An object that an interface describes, or an instance of a class, of which it guards the
   * methods, also those that are inherited.
   */
  <T extends object, Form extends AnswerForm = "noted">(
    instance: T & WithTools<T>,
    context: GuardContext | (() => GuardContext),
    options?: GuardOptions<Form>,
  ): Guarded<T, Form>;
  /** One function under a name. A generic function keeps its type parameters. */
  <Arguments, Result, Form extends AnswerForm = "noted">(
    name: string,
    handler: (args: Arguments, call: HandlerCall) => Result,
    context: GuardContext | (() => GuardContext),
    options?: GuardOptions<Form>,
  ): (args: Arguments | string, options?: CallOptions) => Answer<Result, Form>;
}
