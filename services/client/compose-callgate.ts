import { systemClock } from "../adapters/system/clock.ts";
import type { Callgate } from "./api/callgate.ts";
import { CallgateError } from "./api/callgate-error.ts";
import type { Decision, DecisionListener } from "./api/gate-types.ts";
import { Executor } from "./calls/run-call.ts";
import { startTimer } from "./deadline.ts";
import type { GateClient } from "./gate-client.ts";
import type { GateLink } from "./gate-link.ts";
import { Guard } from "./guard/guard.ts";
import { guardToolsWith } from "./guard/guard-tools.ts";
import { notifyListener } from "./guard/notify-listener.ts";
import { checkClose } from "./inputs/check-options.ts";
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
    guard: guardToolsWith({ guard, link, notify }),
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
