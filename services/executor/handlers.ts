/** The handlers of an executor: loads them, and reports tools that have none here. */
import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import type { Handler } from "../client/calls/run-call.ts";
import { usageError } from "../process/exit-error.ts";
import { loadModule } from "../process/load-module.ts";
import type { Clock, Logger } from "../runtime/ports.ts";
import type { LeftCall } from "./log-executor.ts";
import { SettledDecisions } from "./take-over.ts";

export type Handlers = Readonly<Record<string, Handler>>;

/**
 * The handlers of a module, by tool: its export `handlers`, else its default export, else its
 * functions.
 *
 * @throws ExitError: the module cannot be loaded, or contains something else than functions.
 */
export async function loadHandlers(file: string): Promise<Handlers> {
  const { path, exports } = await loadModule(file, "the handlers");
  const handlers = exports["handlers"] ?? exports["default"] ?? exports;
  if (typeof handlers !== "object" || handlers === null) {
    throw usageError(`${path}: \`handlers\` must be an object of functions, by tool`);
  }
  const entries = Object.entries(handlers);
  const wrong = entries.filter(([, handler]) => typeof handler !== "function");
  if (wrong.length > 0) {
    const names = wrong.map(([name]) => `\`${name}\``).join(", ");
    throw usageError(`${path}: no functions: ${names}; export one function for each tool`);
  }
  if (entries.length === 0) {
    throw usageError(
      `${path}: exports no handlers: export \`handlers\`, one function for each tool`,
    );
  }
  return Object.fromEntries(entries) as Handlers;
}

const TOOLS_MAX = 200;
const OTHER_TOOLS = "(other)";

/**
 * Reports tools that have no handler here: each tool once in the log, each call once in the
 * metrics, even if it is read again while it might be begun. This is fine if executors of another
 * group serve the tool; if none does, its calls end `unknown`, and nothing else explains why.
 */
export function createLeftTools(
  logger: Logger,
  metrics: Pick<ProcessMetrics, "add">,
  clock: Pick<Clock, "nowMs">,
): (call: LeftCall) => void {
  const logged = new Set<string>();
  const counted = new SettledDecisions([], 0);
  return ({ decisionId, call: { tool }, notAfterMs }) => {
    const isCounted = counted.recall(decisionId, notAfterMs);
    counted.forget(clock.nowMs());
    if (isCounted) return;
    counted.add(decisionId, notAfterMs);
    // A policy may allow any name that an agent makes up.
    const name = logged.has(tool) || logged.size < TOOLS_MAX ? tool : OTHER_TOOLS;
    metrics.add("executor_left", "calls of tools that have no handler here", { tool: name });
    if (logged.has(name)) return;
    logged.add(name);
    const what = "a tool has no handler here: its calls are left to executors of other groups";
    logger.warn(what, { tool: name });
  };
}
