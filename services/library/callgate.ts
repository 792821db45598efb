/** What the package gives to those who import it. */

export type { AnswerForm } from "../client/answer-form.ts";
export type { CallReport } from "../client/call-report.ts";
export { CallgateError, type CallgateErrorCode } from "../client/callgate-error.ts";
export type { Callgate } from "../client/callgate-gate.ts";
export type {
  ConnectOptions,
  KafkaConnection,
  RegistryConnection,
} from "../client/connect-types.ts";
export type {
  AllowedDecision,
  Approval,
  CallOptions,
  CallRefusal,
  Decision,
  DecisionListener,
  GuardContext,
  GuardOptions,
  HandlerCall,
  HeldDecision,
  OpenOptions,
  PendingCall,
  PendingFilter,
  ProposalToken,
  ProposedCall,
  RefusedDecision,
  ReportOutcome,
  StoredResult,
  UnavailableDetail,
  Verdict,
  WaitOptions,
  Warning,
} from "../client/gate-types.ts";
export {
  type WrappedAnswer,
  warningsOf,
  wasAnswered,
} from "../client/guard-answers.ts";
export type { Guarded, ToolHandler, Tools } from "../client/guard-types.ts";
export { noEffect } from "../client/no-effect.ts";
export { isRefused, type Refused } from "../client/refused.ts";
export type { CustomNormalizer } from "../core/capabilities.ts";
export { connectCallgate } from "./connect-callgate.ts";
export { openCallgate } from "./open-callgate.ts";
