/** Bounds on the conversations of a gate. At one, a call that begins another is refused as `overloaded`. */
export type OpenLimits = {
  /** Conversations in all; default: as many as memory allows. */
  readonly conversations?: number | undefined;
  /** Conversations of each tenant; default: no bound. */
  readonly conversationsPerTenant?: number | undefined;
  /** Bytes of the conversations on disk; default: no bound. */
  readonly stateBytes?: number | undefined;
};
