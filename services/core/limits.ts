/**
 * Every bound of the engine's state, in one place. A policy may lower some of them and can raise
 * none above the value here. The comment of each bound says what happens when it is reached.
 */
export const LIMITS = {
  /**
   * Decisions retained by call name: this many of reads and refusals, and as many again of writes;
   * the oldest is dropped first.
   */
  callNames: 4_096,
  /** Bytes of decisions that a conversation retains for redelivery. */
  callNameBytes: 8 * 1024 * 1024,
  /**
   * Names of writes whose decisions were dropped to make room; beyond it writes are refused
   * (`history_full`).
   */
  forgottenNames: 32_768,
  /**
   * How long a call is remembered after its deadline, at least, in ms of gate time, so that a late
   * tick still finds it.
   */
  lateTickMs: 3_600_000,
  /** Prior reads; the least recently used is dropped first. */
  priorReads: 1_024,
  /** Bytes of stored outputs of reads, a conversation. */
  priorReadBytes: 4 * 1024 * 1024,
  /** Prior writes; new writes are refused (`history_full`) beyond this. */
  priorWrites: 2_048,
  /** Bytes of stored outputs of writes, a conversation; beyond it only their digests are stored. */
  priorWriteBytes: 4 * 1024 * 1024,
  /** Resources whose last write is remembered. */
  resources: 2_048,
  /**
   * Resources that one effect of a call, or its result, may name by the elements of a list; a call that needs more is
   * refused where the effect is exclusive, and counts as one that may touch anything otherwise.
   */
  resourcesPerCall: 256,
  /** Sketches of fields that near duplicates are found by, a turn; the oldest is dropped first. */
  sketches: 128,
  /** Exclusive effects held, a conversation. */
  exclusiveEffects: 8_192,
  /** Calls in flight, unknown or held, a conversation. */
  openCalls: 256,
  /**
   * Failed writes that may have taken effect and can still be settled, a conversation; the oldest
   * is dropped first.
   */
  doubts: 64,
  /**
   * Calls with one exclusive effect while it is not known which of them had it; the oldest are
   * dropped first.
   */
  effectHolders: 16,
  /** Confirmations spent, a conversation; beyond it no further confirmation counts. */
  confirmations: 1_024,
  /** Denials remembered, a conversation; the oldest is dropped first. */
  denials: 64,
  /** Loops, cycles and tools with strikes, a conversation; the oldest is dropped first. */
  strikes: 128,
  /** Tiers and tools with a counter, a conversation. */
  counters: 256,
  /** Calls remembered in one rate window; also the largest N of a rate. */
  rateWindowCalls: 1_000,
  /** Recent calls remembered by action, a conversation; those of the action made longest ago go first. */
  actionCalls: 512,
  /** Characters of the arguments that are compared with the output or error of their call. */
  saidLength: 1_000,
  /** Length of the list of recent calls: default, least and most. */
  recentCallsDefault: 64,
  recentCallsMin: 8,
  recentCallsMax: 512,
  /** Bytes of a stored output: default and most. */
  outputBytesDefault: 16_384,
  outputBytesMax: 262_144,
  /** Characters shown in a refusal. */
  shownArguments: 500,
  shownResult: 1_000,
  shownError: 500,
  /** Entries of `evicted` and of notices in one event. */
  noticesPerDecision: 16,
  /**
   * How long after its decision a call may start, in ms: executors look no further back for calls
   * to start.
   */
  startWithinMsMax: 86_400_000,
  /** Bytes of an id (tenant, conversation, call, agent, turn, step). */
  idBytes: 256,
  /** Characters of the name under which a person acts. */
  speakerLength: 256,
  /** Characters of a part of a result that names a resource; a longer one names none. */
  resultNameLength: 512,
  /** Characters of a tool name. */
  toolNameLength: 256,
  /** Characters of what the model said with a call. */
  assistantTextLength: 16_384,
} as const;
