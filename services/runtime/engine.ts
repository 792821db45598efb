import type { GateEvent } from "../core/events.ts";
import type { GateInput } from "../core/inputs.ts";
import type { ConversationState } from "../core/state/state.ts";

/** The part of the core that knows no policy. Pure. */
export type StateFold = {
  evolve(state: ConversationState | undefined, event: GateEvent): ConversationState | undefined;
  /** When the conversation needs a tick; undefined: not as it stands. */
  nextDeadlineMs(state: ConversationState): number | undefined;
  /** At this time of proposals it counts as absent. */
  hasLapsed(state: ConversationState, proposalsAtMs: number): boolean;
  /** The state as text, the same text for equal states, and back. */
  snapshot(state: ConversationState): string;
  restore(text: string): ConversationState;
};

/** The core under one policy. Pure: the same arguments give the same answer. */
export type Engine = StateFold & {
  /** Revision of the policy that decides, `sha256:…`. */
  readonly policyRevision: string;
  /** Proposals may hold what is nowhere written in clear: their bytes do not go to the dead letters. */
  readonly hidesArguments: boolean;
  /**
   * The input as it is decided and journaled: without the clear text of sensitive arguments, but for what
   * `decide` needs of it (`clear`), which is never written. The same object where nothing is sensitive.
   * @throws FatalError `secret_missing`, as `decide` does.
   */
  seal(state: ConversationState | undefined, input: GateInput, nowMs: number): GateInput;
  /**
   * `nowMs`: append time of the input, made monotone in its topic-partition. A tick concerns the one
   * conversation whose state is given.
   */
  decide(
    state: ConversationState | undefined,
    input: GateInput,
    nowMs: number,
  ): readonly GateEvent[];
};
