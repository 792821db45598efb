// The gate as users see it. Nothing here refers to what is behind it, so that the package's types stand
// on their own.

import type { CallReport } from "../inputs/report.ts";
import type {
  AnswerForm,
  Approval,
  Decision,
  GuardContext,
  GuardOptions,
  PendingCall,
  PendingFilter,
  ProposedCall,
  ReportOutcome,
  StoredResult,
  Verdict,
  WaitOptions,
} from "./gate-types.ts";
import type { Guarded, Tools } from "./guard-types.ts";

/** A gate in this process. What its methods throw is `CallgateError`, unless said otherwise. */
export interface Callgate {
  /** Revision of the policy that decides, `sha256:…`; changes when `guard` makes tools known. */
  readonly policyRevision: string;
  /**
   * Asks whether a call may run. Resolves once the decision is in the journal; a gate that cannot
   * decide refuses with `gate_unavailable`. The same call again gives the same decision.
   */
  propose(call: ProposedCall): Promise<Decision>;
  /** Tells what became of an allowed call. Resolves once that is in the journal. */
  report(decisionId: string, report: CallReport): Promise<ReportOutcome>;
  /** Lets a held call run, after checking it again. Gives what was decided. */
  approve(approvalId: string, verdict: Approval): Promise<Decision>;
  /** Refuses a held call for good. */
  deny(approvalId: string, verdict: Verdict): Promise<Decision>;
  /** The calls that wait for a person, the oldest first. */
  pending(filter?: PendingFilter): Promise<readonly PendingCall[]>;
  /** Of a held call: waits until it is allowed or refused. Any other decision is given at once. */
  awaitDecision(decisionId: string, options?: WaitOptions): Promise<Decision>;
  /**
   * How an allowed call ended: at once where that is journaled, else as soon as it is; `unknown` where
   * nobody told within the call's time. A held call is waited for as well.
   */
  awaitResult(decisionId: string, options?: WaitOptions): Promise<StoredResult>;
  /** What `previousResult.ref` of a refusal refers to; undefined where no result was reported. */
  previousResult(ref: string): Promise<StoredResult | undefined>;
  /**
   * The same functions, each asking the gate before it runs. The tools become known to the policy. A
   * function of the context is asked at every call.
   */
  guard<T extends Tools, Form extends AnswerForm = "noted">(
    tools: T,
    context: GuardContext | (() => GuardContext),
    options?: GuardOptions<Form>,
  ): Guarded<T, Form>;
  /**
   * Waits for what is under way (tools at most `timeoutMs`, then they are aborted; answers as long as they may take),
   * then lets go. A cluster that does not answer is waited for at most `timeoutMs` more, then its
   * connections end.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}
