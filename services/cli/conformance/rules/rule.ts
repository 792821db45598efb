import type { ExecutorProcess } from "../executor-process.ts";
import type { Lab } from "../lab.ts";

/** One rule of docs/executor-protocol.md, as a run that shows whether an executor keeps it. */
export type Rule = {
  /** As in the page. */
  readonly id: string;
  readonly what: string;
  /** Resolves with what was seen. @throws RuleBroken */
  run(bench: Bench): Promise<string>;
};

export type Bench = {
  readonly lab: Lab;
  /** Runs when a rule begins and when it ends. */
  readonly executor: ExecutorProcess;
};
