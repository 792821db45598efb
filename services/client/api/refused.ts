import { cutText } from "../../core/cut-text.ts";
import { REASONS, type ReasonCode } from "../../core/reasons/reasons.ts";
import type { CallRefusal, Decision, UnavailableDetail, Warning } from "./gate-types.ts";

/** Characters of a refusal that a model is shown at most. */
const MODEL_TEXT_MAX = 700;

/**
 * What a guarded tool returns instead of its result when the call did not run. Show a model
 * `toModel(refused)`. Check `outcome` first: it determines which members exist. `JSON.stringify`
 * gives the short form `RefusedJson`; `{ ...refused }` has every member.
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

/** A refusal as JSON: what a model needs, and the names to look the call up by. */
export type RefusedJson = Pick<Refused, "refused" | "reason" | "callId" | "message">;

/**
 * Whether a guarded tool's answer is a refusal (or a hold) rather than the tool's own result. It
 * holds for copies too: after a spread, `structuredClone` and JSON, of which the last has only the
 * members of `RefusedJson`.
 */
export function isRefused(answer: unknown): answer is Refused {
  if (typeof answer !== "object" || answer === null) return false;
  const { refused, reason, callId, message } = answer as Partial<RefusedJson>;
  if (refused !== true || typeof callId !== "string" || typeof message !== "string") return false;
  return typeof reason === "string" && Object.hasOwn(REASONS, reason);
}

/** What to show a model of a refusal: its message, 700 characters at most. */
export function toModel({ message }: Pick<Refused, "message">): string {
  return message.length <= MODEL_TEXT_MAX ? message : `${cutText(message, MODEL_TEXT_MAX - 1)}…`;
}

function toJson(this: Refused): RefusedJson {
  const { reason, callId } = this;
  return { refused: true, reason, callId, message: toModel(this) };
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
  // Not enumerable, so that a copy has only the fields.
  return Object.defineProperty(refused, "toJSON", { value: toJson });
}

function endedOf({ outcome, decisionId, approvalId }: Decision): Ended {
  if (outcome === "held") return { outcome, decisionId, approvalId };
  return { outcome: "refused", ...(decisionId === undefined ? {} : { decisionId }) };
}
