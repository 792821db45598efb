/** How a program's own telemetry follows the calls that it proposes. */
import type { DecisionEvent } from "../core/events.ts";
import type { RecordHeader } from "./ports.ts";

/** The names of a proposed call; its arguments are no business of a trace. */
export type TracedCall = {
  readonly conversationId: string;
  readonly callId: string;
  readonly agentId: string | null;
  readonly tool: string;
};

/** Never throws: a trace must not decide whether a call runs. */
export interface Telemetry {
  /**
   * Called when a call is proposed. Null: nobody listens.
   * @param parent trace headers of the request that the proposal came with.
   */
  begin(call: TracedCall, parent: readonly RecordHeader[]): DecisionTrace | null;
}

/** Follows one proposal. One of its functions is called, once. */
export interface DecisionTrace {
  /** Headers of the proposal that continue the trace in other processes. */
  readonly headers: readonly RecordHeader[];
  /** @param event null: the gate was unavailable, so the call is refused. */
  decided(event: DecisionEvent | null): void;
  /** @param code of the error that the caller gets instead of a decision. */
  failed(code: string): void;
}

export const noTelemetry: Telemetry = { begin: () => null };
