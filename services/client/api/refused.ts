import type { ReasonCode } from "../../core/reasons/reasons.ts";
import type { CallRefusal, Decision, UnavailableDetail, Warning } from "./gate-types.ts";

const BRAND = Symbol.for("callgate.refused");

/**
 * What a guarded tool returns instead of its result when the call did not run. A model can read its
 * JSON form. Check `outcome` first: it determines which members exist.
 */
export type Refused = RefusedFor & Ended;

type Ended =
  | {
      readonly outcome: "refused";
      /** Absent with `gate_unavailable`: nothing was decided. */
      readonly decisionId?: string;
      readonly approvalId?: never;
    }
  | {
      readonly outcome: "held";
      readonly decisionId: string;
      /** The id that `approve` and `deny` take. */
      readonly approvalId: string;
    };

type RefusedFor = {
  readonly refused: true;
  readonly reason: ReasonCode;
  /** For the model. */
  readonly message: string;
  readonly tool: string;
  readonly callId: string;
  /** From checks in mode `warn`; absent if there are none. */
  readonly warnings?: readonly Warning[];
  /** Only with `gate_unavailable`. */
  readonly detail?: UnavailableDetail;
  readonly refusal: CallRefusal;
};

/** Whether a guarded tool's answer is a refusal (or a hold) rather than the tool's own result. */
export function isRefused(answer: unknown): answer is Refused {
  return typeof answer === "object" && answer !== null && Object.hasOwn(answer, BRAND);
}

/** Builds the refusal for a decision that is not `allowed`. */
export function refusedOf(decision: Decision, refusal: CallRefusal): Refused {
  const refused: Refused = {
    refused: true,
    ...endedOf(decision),
    reason: refusal.reason,
    message: refusal.message,
    tool: decision.tool,
    callId: decision.callId,
    ...(decision.warnings.length === 0 ? {} : { warnings: decision.warnings }),
    ...(refusal.detail === undefined ? {} : { detail: refusal.detail }),
    refusal,
  };
  // Not enumerable, so that models, logs and comparisons see only the fields.
  return Object.defineProperty(refused, BRAND, { value: true });
}

function endedOf({ outcome, decisionId, approvalId }: Decision): Ended {
  if (outcome === "held") return { outcome, decisionId, approvalId };
  return { outcome: "refused", ...(decisionId === undefined ? {} : { decisionId }) };
}
