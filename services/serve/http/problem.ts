/** Errors as `application/problem+json` (RFC 9457): what, where, and what to do. */
import { CallgateError, type CallgateErrorCode } from "../../client/api/callgate-error.ts";

/** Statuses of problems. */
export type ProblemStatus =
  | 400
  | 401
  | 403
  | 404
  | 408
  | 409
  | 410
  | 413
  | 415
  | 422
  | 429
  | 500
  | 503;

export type ProblemBody = {
  /** `urn:callgate:problem:<code>`, or what a standard demands. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  /** What is wrong. */
  readonly detail: string;
  /** Where: the path of a member of the body, the name of a parameter or header. */
  readonly at?: string | undefined;
  /** What to do. */
  readonly remedy: string;
  readonly requestId: string;
};

export type ProblemParts = {
  readonly status: ProblemStatus;
  readonly code: string;
  /** Default: that of the code. */
  readonly type?: string | undefined;
  readonly detail: string;
  readonly at?: string | undefined;
  readonly remedy: string;
  /** Seconds until it makes sense to try again. */
  readonly retryAfter?: number | undefined;
};

/** Thrown by routes; the app answers with it. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly parts: ProblemParts;

  constructor(parts: ProblemParts) {
    super(parts.detail);
    this.parts = parts;
  }
}

export function problemBody(parts: ProblemParts, requestId: string): ProblemBody {
  const { status, code, detail, at, remedy } = parts;
  const title = TITLES[status];
  const { type = `urn:callgate:problem:${code}` } = parts;
  return {
    type,
    title,
    status,
    code,
    detail,
    ...(at === undefined ? {} : { at }),
    remedy,
    requestId,
  };
}

const TITLES: { readonly [status in ProblemStatus]: string } = {
  400: "The request is not valid",
  401: "A token is needed",
  403: "The token does not allow this",
  404: "There is no such thing",
  408: "The request took too long",
  409: "It is too late for this",
  410: "It is over",
  413: "The request is too large",
  415: "The body is not JSON",
  422: "The request cannot be processed",
  429: "Too many requests",
  500: "The server has an error",
  503: "The gate is not available",
};

type Rule = Omit<ProblemParts, "detail" | "code">;

const SAME_CALL_ID = "Send the same request again, with the same `callId`";
const OPERATOR = "Nothing was allowed. Ask the operator of the server: its log has the error";
const UNAVAILABLE: Rule = { status: 503, remedy: SAME_CALL_ID, retryAfter: 1 };

const RULES: { readonly [code in CallgateErrorCode]?: Rule } = {
  invalid_input: { status: 400, remedy: "Correct the request" },
  unknown_approval: { status: 404, remedy: "List the held calls with GET /v1/approvals" },
  unknown_decision: {
    status: 404,
    remedy: "Use the `decisionId` of an answer to POST /v1/proposals",
  },
  reason_required: { status: 422, remedy: "Send `reason`" },
  self_approval: { status: 403, remedy: "Somebody else must answer" },
  dead_letter: {
    status: 422,
    remedy: "Correct the request: the operator finds the input with `callgate dlq list`",
  },
  storage_full: { ...UNAVAILABLE, retryAfter: 30 },
  storage_unavailable: UNAVAILABLE,
  timeout: UNAVAILABLE,
  closed: UNAVAILABLE,
};

/** The problem of an error that the gate's client threw; null: a defect of the server. */
export function problemOf(error: unknown): ProblemParts | null {
  if (error instanceof Problem) return error.parts;
  if (!(error instanceof CallgateError)) return null;
  const { code, message } = error;
  const rule = RULES[code];
  return rule === undefined ? null : { ...rule, code, detail: message };
}

/** What the client hears of an error that is the server's own. */
export const INTERNAL: ProblemParts = {
  status: 500,
  code: "internal_error",
  detail: "the server met an error that is its own",
  remedy: OPERATOR,
};
