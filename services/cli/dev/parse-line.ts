/** Parses one line of `callgate dev`. Unknown fields are errors, never ignored. */
import { parseCanonical } from "../../core/canonical/parse-canonical.ts";
import { RESULT_STATUSES } from "../../core/inputs.ts";
import type { CallReport, ProposedCall } from "../../library/callgate.ts";
import { locateJsonError } from "../output/read-json.ts";

/** The call that a result refers to: by its decision id, or by the names it was proposed under. */
export type CallReference =
  | { readonly decisionId: string }
  | Pick<ProposedCall, "conversationId" | "tenantId" | "turn" | "step" | "callId">;

export type ParsedLine =
  | { readonly type: "proposal"; readonly call: ProposedCall }
  | { readonly type: "result"; readonly of: CallReference; readonly report: CallReport }
  | { readonly type: "problem"; readonly message: string; readonly column: number | null };

type Kind = "string" | "number" | "object" | "count" | "any";

/** Fields of each kind of line. A `count` may be text or a whole number. */
const PROPOSAL_FIELDS: Readonly<Record<string, Kind>> = {
  type: "string",
  tenantId: "string",
  conversationId: "string",
  callId: "string",
  agentId: "string",
  turn: "count",
  step: "count",
  tool: "string",
  arguments: "any",
  assistantText: "string",
  estimatedCost: "object",
  confirmation: "string",
};

const RESULT_FIELDS: Readonly<Record<string, Kind>> = {
  type: "string",
  decisionId: "string",
  tenantId: "string",
  conversationId: "string",
  callId: "string",
  turn: "count",
  step: "count",
  status: "string",
  effect: "string",
  output: "any",
  error: "object",
  durationMs: "number",
  cost: "object",
};

/** The fields of a result line that form the report; the others identify its call. */
const REPORTED = ["status", "effect", "output", "error", "durationMs", "cost"];

/** Larger than any call's arguments may be: the gate checks those. */
const LINE_LIMITS = { maxBytes: 16 * 1024 * 1024, maxDepth: 200, maxKeys: 100_000 };

type JsonMap = Readonly<Record<string, unknown>>;

/** Never throws: an invalid line gives a `problem` with one sentence. */
export function parseLine(text: string): ParsedLine {
  try {
    return lineOf(JSON.parse(text), text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { column } = locateJsonError(text, error);
    return {
      type: "problem",
      message: `not JSON: ${error.message}; send one object a line`,
      column,
    };
  }
}

function lineOf(json: unknown, text: string): ParsedLine {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return problem("a line must be an object: a proposal or a result");
  }
  const line = withoutNulls(json);
  const type = line["type"] ?? (line["status"] === undefined ? "proposal" : "result");
  switch (type) {
    case "proposal":
      return proposalOf(line, text);
    case "result":
      return resultOf(line);
    default:
      return problem('`type` must be "proposal" or "result"');
  }
}

function withoutNulls(json: object): JsonMap {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
}

function proposalOf(line: JsonMap, text: string): ParsedLine {
  const wrong = fieldProblem(line, PROPOSAL_FIELDS, ["conversationId", "tool", "arguments"]);
  if (wrong !== null) return problem(wrong);
  const { type: _type, ...call } = line;
  const proposed = { ...call, arguments: argumentsOf(line, text) };
  return { type: "proposal", call: proposed as unknown as ProposedCall };
}

/**
 * If parsing changed the arguments (a duplicate key, a number that no double represents), the gate
 * gets the original text and refuses it with the problem; the changed form must not run.
 */
function argumentsOf(line: JsonMap, text: string): unknown {
  return parseCanonical(text, LINE_LIMITS).ok ? line["arguments"] : text;
}

function resultOf(line: JsonMap): ParsedLine {
  const wrong = fieldProblem(line, RESULT_FIELDS, ["status"]);
  if (wrong !== null) return problem(wrong);
  if (!RESULT_STATUSES.some((status) => status === line["status"])) {
    return problem(`\`status\` must be one of ${RESULT_STATUSES.join(", ")}`);
  }
  const { decisionId, conversationId, callId } = line;
  const hasNames = typeof conversationId === "string" && typeof callId === "string";
  if (typeof decisionId !== "string" && !hasNames) {
    return problem("a result must name its call: `decisionId`, or `conversationId` and `callId`");
  }
  const of = line as unknown as ProposedCall;
  const report = Object.fromEntries(
    Object.entries(line).filter(([name]) => REPORTED.includes(name)),
  ) as unknown as CallReport;
  if (typeof decisionId === "string") return { type: "result", of: { decisionId }, report };
  return { type: "result", of, report };
}

function fieldProblem(
  line: JsonMap,
  fields: Readonly<Record<string, Kind>>,
  required: readonly string[],
): string | null {
  for (const [name, value] of Object.entries(line)) {
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (kind === undefined) {
      return `unknown field \`${name.slice(0, 40)}\`; use one of ${Object.keys(fields).join(", ")}`;
    }
    if (!fits(value, kind)) return `\`${name}\` must be ${DESCRIPTIONS[kind]}`;
  }
  const missing = required.find((name) => line[name] === undefined);
  return missing === undefined ? null : `\`${missing}\` is missing`;
}

const DESCRIPTIONS: Readonly<Record<Kind, string>> = {
  string: "text",
  number: "a number",
  object: "an object",
  count: "text or a whole number",
  any: "JSON",
};

function fits(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "object":
      return typeof value === "object" && !Array.isArray(value);
    case "count":
      return typeof value === "string" || Number.isSafeInteger(value);
    case "any":
      return true;
  }
}

function problem(message: string): ParsedLine {
  return { type: "problem", message, column: null };
}
