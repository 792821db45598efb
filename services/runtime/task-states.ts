import { FatalError } from "./errors.ts";
import type { TaskState } from "./task-context.ts";

const TRANSITIONS: Readonly<Record<TaskState, readonly TaskState[]>> = {
  restoring: ["running", "suspended", "closed"],
  running: ["restoring", "suspended", "closed"],
  suspended: ["restoring", "suspended", "closed"],
  closed: [],
};

/** See the diagram in task.ts. @throws FatalError where it has no such arrow. */
export function assertTransition(from: TaskState, to: TaskState): void {
  if (from === to || TRANSITIONS[from].includes(to)) return;
  throw new FatalError("unexpected", `a task cannot go from ${from} to ${to}`);
}
