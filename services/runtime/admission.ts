/** Whether a proposal may begin a conversation, while one batch is made. */
import type { GateInput, ProposalInput } from "../core/inputs.ts";
import { REASONS } from "../core/reasons/reasons.ts";
import { hasLapsed } from "../core/state/deadline.ts";
import type { ConversationState } from "../core/state/state.ts";
import { type ConversationBounds, NONE_SPARE } from "./conversation-bounds.ts";
import type { Metrics } from "./ports.ts";
import type { StagedState } from "./staged-state.ts";
import { TenantCounts } from "./tenant-counts.ts";

export type AdmissionContext = {
  readonly partition: number;
  /** Absent or null: there may be any number of conversations. */
  readonly bounds?: ConversationBounds | null;
  readonly metrics: Metrics;
};

export class Admission {
  readonly #context: AdmissionContext;
  readonly #staged: StagedState;
  #needsRoom = false;

  constructor(context: AdmissionContext, staged: StagedState) {
    this.#context = context;
    this.#staged = staged;
  }

  /**
   * Whether the next record should drop conversations that have lapsed, because others need their
   * room.
   */
  get needsRoom(): boolean {
    return this.#needsRoom;
  }

  /**
   * The input; refused where it would begin a conversation that the gate has no room for.
   * @param state of its conversation.
   */
  admit(input: GateInput, state: ConversationState | undefined, nowMs: number): GateInput {
    const { bounds = null, metrics } = this.#context;
    if (bounds === null || input.type !== "proposal" || beginsNothing(input)) return input;
    if (state !== undefined && !hasLapsed(state, nowMs)) return input;
    const exceeded = this.#findExceeded(bounds, input.tenantId, nowMs);
    if (exceeded === null) return input;
    metrics.count("overloaded_proposals");
    const message = `the bound \`${exceeded}\` of the gate is reached`;
    return { ...input, rejected: { reason: "overloaded", message } };
  }

  /** Conversations that have lapsed and are not dropped yet leave their room to others. */
  #findExceeded(bounds: ConversationBounds, tenantId: string, nowMs: number): string | null {
    const staged = this.#staged;
    const at = { partition: this.#context.partition, tenantId };
    const exceeded = bounds.exceededBy(at, staged, NONE_SPARE);
    if (exceeded === null || !bounds.mayLook(at.partition, nowMs)) return exceeded;
    const lapsed = new TenantCounts();
    for (const key of staged.findLapsed(nowMs)) lapsed.add(key);
    // The record that makes room ends the batch.
    this.#needsRoom = lapsed.size > 0;
    const spare = { size: lapsed.size, countOf: (id: string) => lapsed.of(id) };
    return bounds.exceededBy(at, staged, spare);
  }
}

/** Whether it is refused for a reason that begins no conversation anyway. */
function beginsNothing({ rejected }: ProposalInput): boolean {
  return rejected !== null && REASONS[rejected.reason].keepsNoState === true;
}
