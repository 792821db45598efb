import { systemClock } from "../adapters/system/clock.ts";
import type { Callgate } from "./api/callgate.ts";
import { CallgateError } from "./api/callgate-error.ts";
import type { Approval, Decision, ProposedCall } from "./api/gate-types.ts";
import { Executor } from "./calls/run-call.ts";
import { startTimer } from "./deadline.ts";
import { DecisionHook } from "./decisions/decision-hook.ts";
import type { GateClient } from "./gate-client.ts";
import type { GateLink } from "./gate-link.ts";
import { Guard } from "./guard/guard.ts";
import { guardToolsWith } from "./guard/guard-tools.ts";
import { checkClose } from "./inputs/check-options.ts";
import { conversationInput, grantInput } from "./inputs/ruling.ts";
import type { HoldVerdict } from "./inputs/verdict.ts";
import { PendingCalls } from "./journal/pending-calls.ts";
import { runKeepingAlive } from "./keep-alive.ts";

const CLOSE_MS = 10_000;

/**
 * Builds the public API on a link to a gate. Closing it closes the link, and a gate in this
 * process.
 */
export function composeCallgate(link: GateLink, client: GateClient): Callgate {
  const hook = new DecisionHook(client, link.isRemote);
  const propose = async (call: ProposedCall): Promise<Decision> => {
    const proposed = await client.propose(call);
    hook.answered(proposed, call);
    return proposed.decision;
  };
  const decideHold = async (
    kind: HoldVerdict,
    approvalId: string,
    verdict: Approval,
  ): Promise<Decision> => {
    const decided = await client.decideHold(kind, approvalId, verdict);
    hook.decided(decided);
    return decided.decision;
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
    propose,
    report: (decisionId, report) => client.report(decisionId, report),
    approve: (approvalId, verdict) => decideHold("approve", approvalId, verdict),
    deny: (approvalId, verdict) => decideHold("deny", approvalId, verdict),
    cancel: (approvalId, verdict) => decideHold("cancel", approvalId, verdict),
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
    onDecision: (listener) => hook.add(listener),
    awaitDecision: async (decisionId, wait = {}) =>
      (await client.awaitDecision(decisionId, wait)).decision,
    awaitResult: (decisionId, wait = {}) => client.reader.awaitResult(decisionId, wait),
    previousResult: (ref) => client.previousResult(ref),
    guard: guardToolsWith({ guard, link, hook }),
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
