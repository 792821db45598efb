/**
 * Every bound of the engine's state, in one place. A policy may lower some of them; none can be
 * raised above what stands here. What happens at a bound is written beside it.
 */
export const LIMITS = {
  /** Decisions kept by their calls' names: of reads and refusals, and as many again of writes; the oldest goes first. */
  callNames: 4_096,
  /** Bytes of recorded decisions kept for redelivery, a conversation. */
  callNameBytes: 8 * 1024 * 1024,
  /** Names of writes without their decisions, which went to make room; beyond it writes are refused (`history_full`). */
  forgottenNames: 32_768,
  /** How long a call is remembered after its deadline at least, in ms of gate time, so that a tick finds it. */
  lateTickMs: 3_600_000,
  /** Prior calls that are reads: the least recently used goes first. */
  priorReads: 1_024,
  /** Bytes of kept outputs of reads, a conversation. */
  priorReadBytes: 4 * 1024 * 1024,
  /** Prior calls that are writes: new writes are refused (`history_full`) beyond this. */
  priorWrites: 2_048,
  /** Bytes of kept outputs of writes, a conversation; beyond it only their digest is kept. */
  priorWriteBytes: 4 * 1024 * 1024,
  /** Resources with a remembered last write. */
  resources: 2_048,
  /** Sketches of fields that near duplicates are found by, a turn; the oldest goes first. */
  sketches: 128,
  /** Exclusive effects held, a conversation. */
  exclusiveEffects: 8_192,
  /** Calls in flight, unknown or held, a conversation. */
  openCalls: 256,
  /** Failed writes that may have taken effect and can still be settled, a conversation; the oldest goes first. */
  doubts: 64,
  /** Calls with one exclusive effect of which it is not known which had it; the oldest go first. */
  effectHolders: 16,
  /** Confirmations spent, a conversation; beyond it a confirmation counts as none. */
  confirmations: 1_024,
  /** Denials remembered, a conversation; the oldest goes first. */
  denials: 64,
  /** Loops, cycles and tools with strikes, a conversation; the oldest goes first. */
  strikes: 128,
  /** Tiers and tools with a counter, a conversation. */
  counters: 256,
  /** Calls remembered in one rate window; also the largest N of a rate. */
  rateWindowCalls: 1_000,
  /** Calls in the ring: default, least and most. */
  recentCallsDefault: 64,
  recentCallsMin: 8,
  recentCallsMax: 512,
  /** Bytes of a kept output: default and most. */
  outputBytesDefault: 16_384,
  outputBytesMax: 262_144,
  /** Characters shown in a refusal. */
  shownArguments: 500,
  shownResult: 1_000,
  shownError: 500,
  /** Entries of `evicted` and of notices in one event. */
  noticesPerDecision: 16,
  /** How long after its decision a call may be begun, in ms: executors look no further back for calls to begin. */
  startWithinMsMax: 86_400_000,
  /** Characters of an id (tenant, conversation, call, agent, turn, step). */
  idLength: 256,
  /** Characters of a part of a result that names a resource; a longer one names none. */
  resultNameLength: 512,
  /** Characters of a tool name. */
  toolNameLength: 256,
  /** Characters of what the model said with a call. */
  assistantTextLength: 16_384,
} as const;
