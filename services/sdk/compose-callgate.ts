import { toolProblem } from "../adapters/avro/input-rules.ts";
import { systemClock } from "../adapters/system/clock.ts";
import {
  type ExecutableCall,
  type ExecutionReport,
  Executor,
  type Handler,
} from "../executor/executor.ts";
import { startTimer } from "../executor/long-timer.ts";
import { CallgateError } from "./callgate-error.ts";
import type { Callgate } from "./callgate-gate.ts";
import { checkClose } from "./check-options.ts";
import type { GateClient } from "./gate-client.ts";
import type { GateLink } from "./gate-link.ts";
import type { CallOptions, GuardContext } from "./gate-types.ts";
import { Guard } from "./guard.ts";
import type { Guarded, Tools } from "./guard-types.ts";
import { keptAlive } from "./keep-alive.ts";
import { PendingCalls } from "./pending-calls.ts";

const CLOSE_MS = 10_000;

/** The library's face on a gate; closing it closes the link to it, and a gate of this process. */
export function composeCallgate(link: GateLink, client: GateClient): Callgate {
  const executor = new Executor({
    clock: systemClock,
    report: (call, report) => reportExecution(client, call, report),
    onLateError: () => undefined,
  });
  const guard = new Guard(client, executor, !link.isRemote);
  const pending = new PendingCalls(link);
  let closing: Promise<void> | undefined;
  const assertOpen = (): void => {
    if (closing !== undefined)
      throw new CallgateError("closed", "the gate is closed: open it again");
  };
  const close = async (timeoutMs: number): Promise<void> => {
    client.refuseNew();
    await client.drained();
    // What was allowed a moment ago starts before it is waited for.
    await systemClock.sleep(0);
    await executor.close(timeoutMs);
    await client.drained();
    client.close();
    await letGo(link, timeoutMs);
  };
  return {
    get policyRevision() {
      return client.policyRevision;
    },
    propose: async (call) => (await client.propose(call)).decision,
    report: (decisionId, report) => client.report(decisionId, report),
    approve: (approvalId, verdict) => client.decideHold("approve", approvalId, verdict),
    deny: (approvalId, verdict) => client.decideHold("deny", approvalId, verdict),
    pending: async (filter = {}) => {
      assertOpen();
      return pending.list(filter, assertOpen);
    },
    awaitDecision: async (decisionId, wait = {}) =>
      (await client.awaitDecision(decisionId, wait)).decision,
    awaitResult: (decisionId, wait = {}) => client.awaitResult(decisionId, wait),
    previousResult: (ref) => client.previousResult(ref),
    guard: (tools, context) => guardTools(guard, link, tools, context),
    close: async (options = {}) => {
      checkClose(options);
      const { timeoutMs = CLOSE_MS } = options;
      closing ??= keptAlive(() => close(timeoutMs));
      await closing;
    },
  };
}

/** A cluster that does not answer is not waited for: everything that was asked has its answer, or none in its time. */
async function letGo(link: GateLink, timeoutMs: number): Promise<void> {
  const closed = link.close();
  if (!link.isRemote) return await closed;
  let stopTimer: (() => void) | undefined;
  const late = new Promise<void>((resolve) => {
    stopTimer = startTimer(timeoutMs, () => {
      link.abandon();
      resolve();
    });
  });
  try {
    await Promise.race([closed, late]);
  } finally {
    stopTimer?.();
  }
}

async function reportExecution(
  client: GateClient,
  call: ExecutableCall,
  report: ExecutionReport,
): Promise<void> {
  const { status } = report;
  if (status === "succeeded") {
    const { value: output, durationMs } = report;
    await client.report(call.decisionId, { status, output, durationMs });
  } else {
    await client.report(call.decisionId, report);
  }
}

function guardTools<T extends Tools>(
  guard: Guard,
  link: GateLink,
  tools: T,
  context: GuardContext | (() => GuardContext),
): Guarded<T> {
  const names = Object.keys(tools);
  for (const name of names) assertTool(name, tools[name]);
  link.knowTools(names);
  const guarded = names.map((name) => {
    const handler: Handler = (args, call) =>
      Reflect.apply(tools[name] as unknown as Handler, tools, [args, call]);
    const run = async (args?: object | string, options: CallOptions = {}): Promise<unknown> => {
      const given = typeof context === "function" ? context() : context;
      return guard.call(name, handler, args, { ...given, ...options });
    };
    return [name, run] as const;
  });
  return Object.fromEntries(guarded) as Guarded<T>;
}

function assertTool(name: string, handler: unknown): void {
  const problem =
    toolProblem(name) ?? (typeof handler === "function" ? undefined : "it is not a function");
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the tool \`${name}\` cannot be guarded: ${problem}`);
}
