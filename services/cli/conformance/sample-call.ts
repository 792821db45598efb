/** Allowed calls as a gate writes them, for an executor under test. */
import { randomUUID } from "node:crypto";
import { conversationKey } from "../../runtime/partitioner.ts";
import { type AllowedCall, IDEMPOTENCY_HEADER } from "../../wire/output-records.ts";

/** The tool that the executor under test has a handler for. */
export const TOOL = "conformance_effect";
/** A tool of an executor of another group. */
export const FOREIGN_TOOL = "conformance_foreign";
/** The path in the arguments that the executor sets to the idempotency key. */
const KEY_ARGUMENT = "options.key";
const TENANT_ID = "conformance";
const START_WITHIN_MS = 600_000;
const TIME_LIMIT_MS = 120_000;

export type CallChoices = {
  readonly tool?: string;
  readonly conversationId?: string;
  readonly step?: string;
  /** Negative: it is too late already. */
  readonly startWithinMs?: number;
  readonly timeLimitMs?: number;
};

export function sampleCall(choices: CallChoices = {}): AllowedCall {
  const decisionId = randomUUID();
  const atMs = Date.now();
  const { tool = TOOL, conversationId = randomUUID(), step = "1" } = choices;
  return {
    decisionId,
    tenantId: TENANT_ID,
    conversationId,
    call: { callId: `call-${decisionId}`, agentId: null, turn: "1", step, tool },
    arguments: {
      text: JSON.stringify({ number: 1 }),
      ...{ digest: decisionId, actionKey: decisionId, sealed: [] },
    },
    policy: { revision: "sha256:conformance", tier: null, tierRule: null, isRead: false },
    ...{ atMs, warnings: [], confirmation: null },
    approval: { approvalId: null, approvedBy: [] },
    idempotencyKey: `key-${decisionId}`,
    ...{ keyId: "conformance", header: IDEMPOTENCY_HEADER, idempotencyArgument: KEY_ARGUMENT },
    execution: { decisionId, openedAtMs: atMs, attempt: 1 },
    notAfterMs: atMs + (choices.startWithinMs ?? START_WITHIN_MS),
    timeLimitMs: choices.timeLimitMs ?? TIME_LIMIT_MS,
    inputOffset: 0,
  };
}

/** The arguments as the handler must get them. */
export function argumentsWithKey({ idempotencyKey }: AllowedCall): object {
  return { number: 1, options: { key: idempotencyKey } };
}

export function keyOf({ tenantId, conversationId }: AllowedCall): string {
  return conversationKey(tenantId, conversationId);
}
