import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import type { Clock, Logger } from "../runtime/ports.ts";
import type { LeftCall } from "./log-executor.ts";
import { SettledDecisions } from "./settled-decisions.ts";

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
