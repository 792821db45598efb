import type { GateEvent } from "../core/events.ts";
import type { GateInput } from "../core/inputs.ts";
import type { ReadClaim } from "../core/state/claims.ts";
import type { ConversationState } from "../core/state/state.ts";

/** The part of the core that does not depend on a policy. Pure. */
export type StateFold = {
  evolve(state: ConversationState | undefined, event: GateEvent): ConversationState | undefined;
  /** When the conversation needs a tick; undefined: in this state it needs none. */
  nextDeadlineMs(state: ConversationState): number | undefined;
  /** The state as bytes, and back. Equal states give equal bytes. */
  snapshot(state: ConversationState): Uint8Array;
  /** @throws Error where the bytes are not a state's. */
  restore(bytes: Uint8Array): ConversationState;
};

/** The core under one policy. Pure: the same arguments give the same answer. */
export type Engine = StateFold & {
  /** Revision of the deciding policy, `sha256:…`. */
  readonly policyRevision: string;
  /**
   * Whether proposals may hold values that must not be written in clear text: their bytes do not go
   * to the dead letters.
   */
  readonly hidesArguments: boolean;
  /**
   * The input as it is decided and journaled: without the clear text of sensitive arguments, except
   * for `clear`, which `decide` needs and nothing writes. Returns the same object where nothing is
   * sensitive.
   * @throws FatalError `secret_missing`, as `decide` does.
   */
  seal(state: ConversationState | undefined, input: GateInput, nowMs: number): GateInput;
  /**
   * @param nowMs append time of the input, made monotone in its topic-partition.
   * @param state of the one conversation that the input, or the tick, concerns.
   * @param readClaim see `services/core/state/claims.ts`; absent: other conversations are not known.
   */
  decide(
    state: ConversationState | undefined,
    input: GateInput,
    nowMs: number,
    readClaim?: ReadClaim,
  ): readonly GateEvent[];
};
