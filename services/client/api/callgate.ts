// The gate as programs see it. This file imports nothing of the implementation, so that the
// package's types stand on their own.

import type { CallReport } from "../inputs/report.ts";
import type {
  Approval,
  ConversationRef,
  Decision,
  DecisionListener,
  GrantOrder,
  GrantScope,
  PendingCall,
  PendingFilter,
  PolicyReload,
  ProposedCall,
  Reconciliation,
  ReportOutcome,
  RulingOutcome,
  StoredResult,
  Verdict,
  WaitOptions,
} from "./gate-types.ts";
import type { GuardTools } from "./guard-types.ts";

/**
 * A gate, in this process or behind Kafka. Its methods throw `CallgateError` unless they say
 * otherwise.
 */
export interface Callgate {
  /**
   * Revision of the policy in force, `sha256:…`; it changes when `guard` declares new tools, and
   * when another policy is loaded.
   */
  readonly policyRevision: string;
  /**
   * Loads the policy of a gate in this process again; all calls that are decided from then on are
   * decided by it.
   *
   * @throws CallgateError: the new policy is invalid or cannot be read (`policy_invalid`,
   *   `policy_unreadable`), and the one before stays in force; `invalid_input` for a gate elsewhere.
   */
  reloadPolicy(): Promise<PolicyReload>;
  /**
   * Asks whether a call may run. Resolves once the decision is in the journal; a gate that cannot
   * decide refuses with `gate_unavailable`. The same call again returns the same decision.
   */
  propose(call: ProposedCall): Promise<Decision>;
  /** Reports how an allowed call ended. Resolves once the report is in the journal. */
  report(decisionId: string, report: CallReport): Promise<ReportOutcome>;
  /** Lets a held call run, after the gate has checked it again. Returns the new decision. */
  approve(approvalId: string, verdict: Approval): Promise<Decision>;
  /** Refuses a held call for good. */
  deny(approvalId: string, verdict: Verdict): Promise<Decision>;
  /** Withdraws a held call, as whoever no longer needs it: it is refused for good. */
  cancel(approvalId: string, verdict: Verdict): Promise<Decision>;
  /**
   * Allows calls of one tool, or under one tier, before anybody asks. The gate must know the
   * conversation: it has decided a call of it.
   */
  grant(conversation: ConversationRef, grant: GrantOrder): Promise<RulingOutcome>;
  /** Withdraws what is left of a grant. */
  revoke(conversation: ConversationRef, scope: GrantScope): Promise<RulingOutcome>;
  /**
   * Reports how a call ended whose outcome is unknown, or that failed and may have taken effect.
   * Look at what the call acts on first: the gate believes it.
   */
  reconcile(decisionId: string, reconciliation: Reconciliation): Promise<RulingOutcome>;
  /** Decides calls of an ended or stopped conversation again. */
  resume(conversation: ConversationRef, verdict: Verdict): Promise<RulingOutcome>;
  /** Refuses all further calls of a conversation. */
  endConversation(conversation: ConversationRef, verdict: Verdict): Promise<RulingOutcome>;
  /** Lists the calls that wait for a person, the oldest first. */
  pending(filter?: PendingFilter): Promise<readonly PendingCall[]>;
  /**
   * Calls the listener with each decision, before the call goes on. A gate in this process reports
   * all its decisions, also on held calls that expire or that another program decides; a gate
   * elsewhere reports those on calls and verdicts of this program. Returns a function that removes
   * the listener.
   */
  onDecision(listener: DecisionListener): () => void;
  /** Waits until a held call is allowed or refused. Returns any other decision at once. */
  awaitDecision(decisionId: string, options?: WaitOptions): Promise<Decision>;
  /**
   * Returns how an allowed call ended, or waits until the journal says so; `unknown` if nobody
   * reported an outcome within the call's time. Waits for the verdict on a held call as well.
   */
  awaitResult(decisionId: string, options?: WaitOptions): Promise<StoredResult>;
  /**
   * Returns what `previousResult.ref` of a refusal refers to; undefined if no result was reported.
   */
  previousResult(ref: string): Promise<StoredResult | undefined>;
  /**
   * Returns the same functions, each of which asks the gate before it runs. Declares the tools to
   * the policy. If the context is a function, every call evaluates it. Takes an object of functions,
   * an instance of a class, or a name and one function.
   */
  readonly guard: GuardTools;
  /**
   * Waits for calls and answers in progress, then releases everything. After `timeoutMs` it aborts
   * running tools; answers may take as long as they need. It waits at most `timeoutMs` more for a
   * cluster that does not answer, then closes the connections.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}
