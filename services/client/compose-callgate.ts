import { systemClock } from "../adapters/system/clock.ts";
import { readToolName } from "../core/tool-name.ts";
import type { Callgate } from "./api/callgate.ts";
import { CallgateError } from "./api/callgate-error.ts";
import type {
  AnswerForm,
  CallOptions,
  Decision,
  DecisionListener,
  GuardContext,
  GuardOptions,
} from "./api/gate-types.ts";
import type { Guarded, Tools } from "./api/guard-types.ts";
import { isGeneratorFunction, readableAnswer } from "./calls/generators.ts";
import { Executor, type Handler } from "./calls/run-call.ts";
import { startTimer } from "./deadline.ts";
import type { GateClient } from "./gate-client.ts";
import type { GateLink } from "./gate-link.ts";
import { Guard } from "./guard/guard.ts";
import { checkClose, checkGuardOptions } from "./inputs/check-options.ts";
import { conversationInput, grantInput } from "./inputs/ruling.ts";
import { PendingCalls } from "./journal/pending-calls.ts";
import { runKeepingAlive } from "./keep-alive.ts";

const CLOSE_MS = 10_000;

/**
 * Builds the public API on a link to a gate. Closing it closes the link, and a gate in this
 * process.
 */
export function composeCallgate(
  link: GateLink,
  client: GateClient,
  onDecision?: DecisionListener,
): Callgate {
  const notify = (decision: Decision): Decision => {
    notifyListener(onDecision, decision);
    return decision;
  };
  const executor = new Executor({
    clock: systemClock,
    report: async (call, report) => {
      await client.reportExecution(call.decisionId, report);
    },
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
    // Lets a call that was just allowed start first, so that the wait includes it.
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
    reloadPolicy: async () => {
      assertOpen();
      return link.reloadPolicy();
    },
    propose: async (call) => notify((await client.propose(call)).decision),
    report: (decisionId, report) => client.report(decisionId, report),
    approve: async (approvalId, verdict) =>
      notify(await client.decideHold("approve", approvalId, verdict)),
    deny: async (approvalId, verdict) =>
      notify(await client.decideHold("deny", approvalId, verdict)),
    cancel: async (approvalId, verdict) =>
      notify(await client.decideHold("cancel", approvalId, verdict)),
    grant: async (conversation, order) => client.rule(grantInput("grant", conversation, order)),
    revoke: async (conversation, scope) => client.rule(grantInput("revoke", conversation, scope)),
    reconcile: (decisionId, reconciliation) => client.reconcile(decisionId, reconciliation),
    resume: async (conversation, verdict) =>
      client.rule(conversationInput("resume", conversation, verdict)),
    endConversation: async (conversation, verdict) =>
      client.rule(conversationInput("end", conversation, verdict)),
    pending: async (filter = {}) => {
      assertOpen();
      return pending.list(filter, assertOpen);
    },
    awaitDecision: async (decisionId, wait = {}) =>
      (await client.awaitDecision(decisionId, wait)).decision,
    awaitResult: (decisionId, wait = {}) => client.reader.awaitResult(decisionId, wait),
    previousResult: (ref) => client.previousResult(ref),
    guard: (tools, context, options) => guardTools(guard, link, tools, context, options, notify),
    close: async (options = {}) => {
      checkClose(options);
      const { timeoutMs = CLOSE_MS } = options;
      closing ??= runKeepingAlive(() => close(timeoutMs));
      await closing;
    },
  };
}

/**
 * Closes the link and does not wait for a cluster that fails to answer: by now every request has
 * its answer or has timed out.
 */
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

function guardTools<T extends Tools, Form extends AnswerForm>(
  guard: Guard,
  link: GateLink,
  tools: T,
  context: GuardContext | (() => GuardContext),
  options: GuardOptions<Form> = {},
  notify: DecisionListener = () => undefined,
): Guarded<T, Form> {
  checkGuardOptions(options);
  const names = Object.keys(tools);
  for (const name of names) assertTool(name, tools[name]);
  link.knowTools(names);
  const onDecision = (decision: Decision): void => {
    notify(decision);
    notifyListener(options.onDecision, decision);
  };
  const form = { answers: options.answers, onDecision };
  const guarded = names.map((name) => {
    const handler: Handler = (args, call) =>
      Reflect.apply(tools[name] as unknown as Handler, tools, [args, call]);
    const isStream = isGeneratorFunction(tools[name]);
    // The caller receives a stream as it comes, so there is nothing to wrap.
    const toolForm = isStream ? { ...form, answers: "bare" as const } : form;
    const run = async (args?: object | string, call: CallOptions = {}): Promise<unknown> => {
      const callContext = typeof context === "function" ? context() : context;
      return guard.call(name, handler, args, { ...callContext, ...call }, toolForm);
    };
    const guardedTool: typeof run = (...callArguments) =>
      isStream ? readableAnswer(run(...callArguments)) : run(...callArguments);
    return [name, guardedTool] as const;
  });
  return Object.fromEntries(guarded) as Guarded<T, Form>;
}

function assertTool(name: string, handler: unknown): void {
  const problem =
    nameProblem(name) ?? (typeof handler === "function" ? undefined : "it is not a function");
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the tool \`${name}\` cannot be guarded: ${problem}`);
}

/** Tool names must be in the form into which the gate normalizes them. */
function nameProblem(name: string): string | undefined {
  const read = readToolName(name);
  if (!read.ok) return read.problem;
  return read.name === name ? undefined : `write its name as \`${read.name}\``;
}

/** Calls the listener. Errors that it throws become process warnings and do not affect the call. */
export function notifyListener(listener: DecisionListener | undefined, decision: Decision): void {
  if (listener === undefined) return;
  try {
    listener(decision);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error), "CallgateListener");
  }
}
