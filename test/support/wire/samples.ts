// One value of every kind that the codec knows, with all fields set. Golden bytes and benchmarks
// use them: a change here changes the golden files.
import type { Decision } from "../../../services/core/decision.ts";
import type {
  CallAllowed,
  CallFacts,
  CallHeld,
  CallRefused,
  GateEvent,
  ResultRecorded,
} from "../../../services/core/events.ts";
import type {
  GateInput,
  ProposalInput,
  ResultInput,
  VerdictInput,
} from "../../../services/core/inputs.ts";
import { claimIdOf } from "../../../services/core/state/claims.ts";
import type { InputPosition, JournalRecord } from "../../../services/runtime/journal.ts";

const AT_MS = 1_750_000_000_123;
const REVISION = `sha256:${"5c".repeat(32)}`;

export const SAMPLE_SECRETS: ReadonlyMap<string, Uint8Array> = new Map([
  ["k1", new Uint8Array(32).fill(7)],
]);

export const SAMPLE_PROPOSAL: ProposalInput = {
  type: "proposal",
  tenantId: "default",
  conversationId: "conversation-7f3a",
  callId: "call_Zx81kQ",
  agentId: "agent-1",
  turn: "3",
  step: "7",
  tool: "create_invoice",
  arguments: '{"amount_cents":129900,"currency":"EUR","customer_id":"cus_8812","lines":[1,2,3]}',
  assistantText: "I will create the invoice now.",
  estimatedCost: { microUnits: 1_500, currency: "USD" },
  confirmation: "confirmation-1",
  rejected: null,
};

/** A proposal as most agents send it: without optional fields. */
export const PLAIN_PROPOSAL: ProposalInput = {
  ...SAMPLE_PROPOSAL,
  assistantText: null,
  estimatedCost: null,
  confirmation: null,
};

const CALL: CallFacts = {
  priorKey: "ab".repeat(32),
  resources: ["customer/cus_8812", "invoice"],
  exclusive: [
    {
      resource: "invoice",
      kind: "create",
      rule: "tool_schemas.create_invoice",
      ancestors: null,
      onFailure: "warn",
      tenantWide: false,
    },
  ],
  windowUntilMs: AT_MS + 300_000,
  dropAtMs: AT_MS + 86_400_000,
  recentCallsMax: 64,
  repeats: 1,
  rates: [{ key: "tier:writes", windowMs: 60_000 }],
  grant: { tier: "writes", expiresAtMs: AT_MS + 3_600_000 },
  more: null,
};

const BASE: Decision = {
  decisionId: "0123456789abcdef0123456789abcdef",
  tenantId: SAMPLE_PROPOSAL.tenantId,
  conversationId: SAMPLE_PROPOSAL.conversationId,
  call: {
    callId: SAMPLE_PROPOSAL.callId,
    agentId: SAMPLE_PROPOSAL.agentId,
    turn: SAMPLE_PROPOSAL.turn,
    step: SAMPLE_PROPOSAL.step,
    tool: SAMPLE_PROPOSAL.tool,
  },
  arguments: {
    text: SAMPLE_PROPOSAL.arguments as string,
    digest: "cd".repeat(32),
    actionKey: "ef".repeat(32),
    sealed: [],
  },
  times: { atMs: AT_MS, proposalsAtMs: AT_MS - 5 },
  policy: {
    revision: REVISION,
    tier: "writes",
    tierRule: "authorization.tiers.writes",
    isRead: false,
  },
  notices: {
    warnings: [{ reason: "loop_no_progress", message: "nothing new came back", rule: "loops" }],
    shadow: [{ reason: "near_duplicate", message: "almost the same", rule: "similarity" }],
  },
  conversation: {
    fresh: true,
    dropAtMs: AT_MS + 86_400_000,
    entersTurn: true,
    confirmation: "confirmation-1",
    evicted: { reads: ["r1"], names: ["n1"], writes: ["w1"], resources: ["x1"] },
  },
  approval: { approvalId: "fedcba9876543210fedcba9876543210", approvedBy: ["ann@example.org"] },
};

export const ALLOWED: CallAllowed = {
  type: "allowed",
  ...BASE,
  keyId: "k1",
  execution: { decisionId: "11".repeat(16), openedAtMs: AT_MS - 1_000, attempt: 2 },
  notAfterMs: AT_MS + 30_000,
  timeLimitMs: 60_000,
  idempotencyArgument: "idempotency_key",
  facts: CALL,
};

/** A decision like most: without optional fields. */
export const PLAIN_ALLOWED: CallAllowed = {
  ...ALLOWED,
  notices: { ...ALLOWED.notices, warnings: [], shadow: [] },
  conversation: { ...ALLOWED.conversation, fresh: false, confirmation: null, evicted: null },
  approval: { ...ALLOWED.approval, approvalId: null, approvedBy: [] },
  execution: { decisionId: BASE.decisionId, openedAtMs: AT_MS, attempt: 1 },
  idempotencyArgument: null,
  facts: { ...CALL, priorKey: BASE.arguments.actionKey, grant: null },
};

export const HELD: CallHeld = {
  type: "held",
  ...BASE,
  holdId: "ba".repeat(16),
  expiresAtMs: AT_MS + 900_000,
  requireReason: true,
  approvals: 2,
  holdNumber: 1,
  ruleDigest: "dc".repeat(32),
  scope: { of: "destructive", notOf: ["network"] },
  message: "This call needs a person's approval.",
  rule: "authorization.tiers.destructive",
  facts: CALL,
};

export const REFUSED: CallRefused = {
  type: "refused",
  ...BASE,
  refusal: {
    reason: "duplicate_call",
    message: "You already made this exact call and it succeeded.",
    duplicate: true,
    note: "This tool call was already made in this turn with identical arguments.",
    rule: "deduplication",
    level: 1,
    count: 2,
    retryable: false,
    disposition: "use_previous_result",
    previousCall: {
      callId: "call_1",
      decisionId: "22".repeat(16),
      tool: "create_invoice",
      atMs: AT_MS - 60_000,
      status: "succeeded",
    },
    previousResult: {
      inline: '{"id":"inv_1"}',
      ref: "22".repeat(16),
      digest: "aa".repeat(32),
      bytes: 14,
    },
    conflict: { resource: "invoice", path: ["create_invoice", "invoice", "create_invoice"] },
    resolution: { type: "retry_after", retryAfterMs: 1_500, approvalId: "33".repeat(16) },
    suggestedNext: ["get_invoice", "list_invoices"],
    problems: [{ path: "$.amount_cents", message: "must be a whole number" }],
    earlierResults: null,
    userMessage: null,
  },
  strike: { key: "action:1", count: 2, step: "7" },
  raised: { acknowledgement: true, userInput: false, ended: "turn" },
  cycle: ["k1", "k2"],
  counted: false,
  denial: null,
  answered: { facts: CALL, outputDigest: "aa".repeat(32) },
};

const CALL_REFERENCE = {
  tenantId: BASE.tenantId,
  conversationId: BASE.conversationId,
  decisionId: BASE.decisionId,
  callId: BASE.call.callId,
  tool: BASE.call.tool,
  atMs: AT_MS,
};

/** One event of every kind. */
export const SAMPLE_EVENTS: { readonly [kind in GateEvent["type"]]: GateEvent } = {
  allowed: ALLOWED,
  refused: REFUSED,
  held: HELD,
  repeated: {
    type: "repeated",
    tenantId: BASE.tenantId,
    conversationId: BASE.conversationId,
    decisionId: BASE.decisionId,
    decision: ALLOWED,
  },
  result_recorded: {
    type: "result_recorded",
    ...CALL_REFERENCE,
    status: "failed",
    effect: "possible",
    output: "HTTP 503",
    outputDigest: "bb".repeat(32),
    maskedDigest: "cc".repeat(32),
    outputBytes: 8,
    whole: true,
    error: { code: "503", message: "service unavailable", retryable: true },
    transient: true,
    durationMs: 412,
    cost: { microUnits: 2_000, currency: "EUR" },
    evicted: { reads: [], names: [], writes: [], resources: [] },
    effects: null,
  },
  claimed: {
    type: "claimed",
    tenantId: BASE.tenantId,
    conversationId: claimIdOf("invoice"),
    resource: "invoice",
    holders: [
      {
        decisionId: BASE.decisionId,
        callId: CALL_REFERENCE.callId,
        tool: CALL_REFERENCE.tool,
        kind: "create",
        actionKey: "ab".repeat(32),
        n: 3,
        atMs: AT_MS,
        status: "in_flight",
        ancestors: null,
        onFailure: "warn",
        claimant: BASE.conversationId,
      },
    ],
    decisionId: BASE.decisionId,
    atMs: AT_MS,
    dropAtMs: AT_MS + 86_400_000,
  },
  outcome_unknown: { type: "outcome_unknown", ...CALL_REFERENCE },
  reconciled: {
    type: "reconciled",
    ...CALL_REFERENCE,
    outcome: "succeeded",
    by: "ops@example.org",
    reason: "seen in the ledger",
  },
  ruled: {
    type: "ruled",
    tenantId: BASE.tenantId,
    conversationId: BASE.conversationId,
    atMs: AT_MS,
    kind: "grant",
    approvalId: null,
    decisionId: null,
    tier: "writes",
    tool: null,
    ruleDigest: null,
    scope: null,
    calls: 5,
    untilMs: AT_MS + 60_000,
    by: "ann@example.org",
    reason: "the batch was agreed on",
  },
  ignored: {
    type: "ignored",
    tenantId: BASE.tenantId,
    conversationId: BASE.conversationId,
    input: "approve",
    why: "already_decided",
    id: "44".repeat(16),
  },
};

/** Additions of the second release: a call with all rare fields, and its result. */
export const EXTRA_EVENTS: readonly GateEvent[] = [
  {
    ...ALLOWED,
    facts: {
      ...CALL,
      exclusive: [
        {
          resource: "invoice",
          kind: "create",
          rule: "tool_schemas",
          ancestors: ["ledger"],
          onFailure: "conflict",
          tenantWide: false,
        },
      ],
      more: {
        cost: { microUnits: 2_500_000, currency: "EUR" },
        manualGrant: "tool:create_invoice",
        pending: [
          {
            resource: "invoice/{result.id}",
            kind: "create",
            exclusive: true,
            rule: "tool_schemas",
            onFailure: "conflict",
          },
        ],
        sketches: [{ key: "content", values: "AAECAw==" }],
        budgets: [
          {
            budget: "refunds",
            period: 3,
            amount: { microUnits: 5, currency: "EUR" },
            isFixed: true,
          },
        ],
        asksUser: false,
      },
    },
  },
  {
    ...(SAMPLE_EVENTS.result_recorded as ResultRecorded),
    effects: {
      resources: ["invoice/7"],
      exclusive: [
        {
          resource: "invoice/7",
          kind: "create",
          rule: "tool_schemas",
          ancestors: null,
          onFailure: "warn",
          tenantWide: false,
        },
      ],
    },
  },
  {
    ...REFUSED,
    refusal: {
      ...REFUSED.refusal,
      reason: "budget_seconds",
      earlierResults: [{ ref: "22".repeat(16), tool: "create_invoice", atMs: AT_MS, digest: "aa" }],
      userMessage: "I stopped because the time allowed for this task is over.",
    },
  },
];

export const SAMPLE_RESULT: ResultInput = {
  type: "result",
  tenantId: BASE.tenantId,
  conversationId: BASE.conversationId,
  callId: BASE.call.callId,
  decisionId: BASE.decisionId,
  status: "failed",
  effect: "possible",
  basis: "returned",
  output: "HTTP 503 – später",
  outputDigest: "bb".repeat(32),
  outputBytes: 19,
  error: { code: "503", message: "service unavailable", retryable: true },
  durationMs: 412,
  cost: { microUnits: 2_000, currency: "EUR" },
};

export const SAMPLE_VERDICT: VerdictInput = {
  type: "verdict",
  kind: "approve",
  tenantId: BASE.tenantId,
  conversationId: BASE.conversationId,
  approvalId: "ba".repeat(16),
  decisionId: BASE.decisionId,
  outcome: "succeeded",
  tier: "writes",
  tool: "create_invoice",
  calls: 3,
  untilMs: AT_MS + 60_000,
  by: "ann@example.org",
  reason: "looked at it",
};

export const SAMPLE_POSITION: InputPosition = {
  topic: "proposals",
  partition: 3,
  offset: 41_234,
  appendTimeMs: AT_MS,
};

/** A journal record of that input and those events. */
export function journalOf(input: GateInput, events: readonly GateEvent[]): JournalRecord {
  return {
    seq: 40_000,
    prevHash: "9f".repeat(32),
    input: { type: "decided", at: SAMPLE_POSITION, input },
    next: { proposals: 41_235, results: 40_111, verdicts: 12 },
    clocks: { proposals: AT_MS, results: AT_MS - 20, verdicts: AT_MS - 5_000 },
    previousAtMs: AT_MS - 1,
    policyRevision: REVISION,
    events,
    stateHash: null,
    anchor: null,
  };
}
