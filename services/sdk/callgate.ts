/** What the package gives to those who import it. */

export type { CustomNormalizer } from "../core/capabilities.ts";
export type { CallReport } from "../executor/call-report.ts";
export type { AnswerForm } from "./answer-form.ts";
export { CallgateError, type CallgateErrorCode } from "./callgate-error.ts";
export type { Callgate } from "./callgate-gate.ts";
export { connectCallgate } from "./connect-callgate.ts";
export type { ConnectOptions, KafkaConnection, RegistryConnection } from "./connect-types.ts";
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
} from "./gate-types.ts";
export {
  type WrappedAnswer,
  warningsOf,
  wasAnswered,
} from "./guard-answers.ts";
export type { Guarded, ToolHandler, Tools } from "./guard-types.ts";
export { noEffect } from "./no-effect.ts";
export { openCallgate } from "./open-callgate.ts";
export { isRefused, type Refused } from "./refused.ts";
