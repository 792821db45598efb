/**
 * `callgate/client`: for programs that use a gate on Kafka. It loads neither the embedded gate nor
 * its storage.
 */

export type { Callgate } from "../client/api/callgate.ts";
export { CallgateError, type CallgateErrorCode } from "../client/api/callgate-error.ts";
export type {
  ConnectOptions,
  KafkaConnection,
  RegistryConnection,
} from "../client/api/connect-types.ts";
export type {
  AllowedDecision,
  AnswerForm,
  Approval,
  CallNames,
  CallOptions,
  CallRefusal,
  ConversationRef,
  Decision,
  DecisionListener,
  GrantOrder,
  GrantScope,
  GuardContext,
  GuardOptions,
  HandlerCall,
  HeldDecision,
  PendingCall,
  PendingFilter,
  PolicyListener,
  PolicyRefusal,
  PolicyReload,
  ProposalToken,
  ProposedCall,
  Reconciliation,
  RefusedDecision,
  ReportOutcome,
  RulingOutcome,
  StoredResult,
  UnavailableDetail,
  Verdict,
  WaitOptions,
  Warning,
} from "../client/api/gate-types.ts";
export type { Guarded, ToolHandler, Tools } from "../client/api/guard-types.ts";
export { isRefused, type Refused, type RefusedJson, toModel } from "../client/api/refused.ts";
export { noEffect } from "../client/calls/call-error.ts";
export {
  type WrappedAnswer,
  warningsOf,
  wasAnswered,
} from "../client/guard/present-answer.ts";
export type { CallReport } from "../client/inputs/report.ts";
export { connectCallgate } from "./connect-callgate.ts";
