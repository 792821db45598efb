import type { CallOptions, HandlerCall } from "./gate-types.ts";
import type { Refused } from "./refused.ts";

/** A function that does something for an agent. Its first parameter are the call's arguments. */
export type ToolHandler = (args: never, call: HandlerCall) => unknown;

export type Tools = Readonly<Record<string, ToolHandler>>;

type GuardedTool<Parameters extends readonly unknown[], Result> = Parameters extends readonly []
  ? (args?: object | string, options?: CallOptions) => Answer<Result>
  : (args: Parameters[0] | string, options?: CallOptions) => Answer<Result>;

/** A generator is read as it runs: awaited first, or iterated at once, where a refusal is what is yielded. */
type Answer<Result> = [Result] extends [
  Generator<infer Y, infer R, infer N> | AsyncGenerator<infer Y, infer R, infer N>,
]
  ? Promise<AsyncGenerator<Y, R, N> | Refused> & AsyncIterable<Y | Refused>
  : Promise<Awaited<Result> | Refused>;

/**
 * The same functions behind the gate. Arguments may also be the JSON text that a model wrote. A call
 * that does not run gives `Refused`; what the function throws is thrown.
 */
export type Guarded<T extends Tools> = {
  readonly [Name in keyof T]: T[Name] extends (...given: infer Parameters) => infer Result
    ? GuardedTool<Parameters, Result>
    : never;
};
