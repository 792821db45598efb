import type { WrappedAnswer } from "../guard/present-answer.ts";
import type { AnswerForm, CallOptions, HandlerCall } from "./gate-types.ts";
import type { Refused } from "./refused.ts";

/** A function that acts for an agent. Its first parameter is the call's arguments. */
export type ToolHandler = (args: never, call: HandlerCall) => unknown;

export type Tools = Readonly<Record<string, ToolHandler>>;

type GuardedTool<Parameters extends readonly unknown[], Answer> = Parameters extends readonly []
  ? (args?: object | string, options?: CallOptions) => Answer
  : (args: Parameters[0] | string, options?: CallOptions) => Answer;

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
export type Guarded<T extends Tools, Form extends AnswerForm = "noted"> = {
  readonly [Name in keyof T]: T[Name] extends (...parameters: infer Parameters) => infer Result
    ? GuardedTool<Parameters, Answer<Result, Form>>
    : never;
};
