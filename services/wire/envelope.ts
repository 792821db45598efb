import type { Money } from "../core/inputs.ts";

/** The envelope of a proposal, whichever form it came in. */
export type Envelope = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly agentId: string | null;
  readonly turn: string | null;
  readonly step: string | null;
  readonly tool: string;
  readonly arguments: string | Uint8Array;
  readonly assistantText: string | null;
  readonly estimatedCost: Money | null;
  readonly confirmation: string | null;
  /** The hold that the proposal asks for again; null or absent: none. */
  readonly approvalId?: string | null;
};
