/** The claims of a token: the members of a proposal that only the platform may set. */
import type { JsonValue } from "../../core/canonical/json-value.ts";
import { parseCanonical } from "../../core/canonical/parse-canonical.ts";
import { isIdText } from "../../core/id-text.ts";
import type { ConfirmedCall, Money } from "../../core/inputs.ts";

export type TokenConfirmation = { readonly id: string; readonly confirms: ConfirmedCall };

export type TokenClaims = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly turn: string;
  readonly estimatedCost: Money | null;
  readonly confirmation: TokenConfirmation | null;
  readonly expiresAtMs: number;
  readonly tokenId: string;
};

export type ClaimsResult =
  | { readonly ok: true; readonly claims: TokenClaims }
  | { readonly ok: false; readonly message: string };

type Members = { readonly [name: string]: JsonValue | undefined };

const CLAIMS = ["tenantId", "conversationId", "agentId", "turn", "exp", "jti"];
/** `iat` and `iss` are ignored; libraries add them by default. */
const OPTIONAL = ["confirmation", "estimatedCost", "iat", "iss"];
const CONFIRMATION = ["id", "tool", "callId", "argumentsDigest"];
const MONEY = ["microUnits", "currency"];
const LIMITS_OF_CLAIMS = { maxBytes: 8 * 1024, maxDepth: 3, maxKeys: 32 };
const EXP_MAX = 253_402_300_799;

/** Reads the claims from a payload, or returns their problem. The message quotes no claim. */
export function readClaims(payload: Uint8Array): ClaimsResult {
  const parsed = parseCanonical(payload, LIMITS_OF_CLAIMS);
  if (!parsed.ok) return failed("its claims are not strict JSON");
  const claims = membersOf(parsed.value);
  if (claims === undefined) return failed("its claims are not an object");
  const problem = claimsProblem(claims);
  if (problem !== undefined) return failed(problem);
  return { ok: true, claims: claimsOf(claims) };
}

function claimsProblem(claims: Members): string | undefined {
  const missing = CLAIMS.filter((name) => claims[name] === undefined);
  if (missing.length > 0) return `it lacks ${quotedNames(missing)}`;
  if (hasOthers(claims, [...CLAIMS, ...OPTIONAL])) return "it has a claim that is not known here";
  for (const name of ["tenantId", "conversationId", "agentId", "turn", "jti"]) {
    if (!isId(claims[name])) return `its \`${name}\` is no id`;
  }
  const { exp, confirmation, estimatedCost } = claims;
  if (!isWhole(exp, EXP_MAX)) return "its `exp` is no time in whole seconds";
  return confirmationProblem(confirmation) ?? costProblem(estimatedCost);
}

function confirmationProblem(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  const members = membersOf(value);
  if (members === undefined || hasOthers(members, CONFIRMATION)) {
    return "its `confirmation` must have `id`, `tool`, and `callId` or `argumentsDigest`";
  }
  const { id, tool, callId, argumentsDigest } = members;
  if (!isId(id)) return "its `confirmation.id` is no id";
  if (!isId(tool)) return "its `confirmation.tool` is no name of a tool";
  if (callId === undefined && argumentsDigest === undefined) {
    return "its `confirmation` names no call: give `callId` or `argumentsDigest`";
  }
  if (callId !== undefined && !isId(callId)) return "its `confirmation.callId` is no id";
  if (argumentsDigest === undefined || isId(argumentsDigest)) return undefined;
  return "its `confirmation.argumentsDigest` is no digest";
}

function costProblem(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  const members = membersOf(value);
  const isMoney =
    members !== undefined &&
    !hasOthers(members, MONEY) &&
    isWhole(members["microUnits"], Number.MAX_SAFE_INTEGER) &&
    typeof members["currency"] === "string" &&
    /^[A-Z]{3}$/.test(members["currency"]);
  return isMoney ? undefined : "its `estimatedCost` must have `microUnits` and `currency`";
}

function claimsOf(claims: Members): TokenClaims {
  return {
    tenantId: textOf(claims["tenantId"]),
    conversationId: textOf(claims["conversationId"]),
    agentId: textOf(claims["agentId"]),
    turn: textOf(claims["turn"]),
    estimatedCost: moneyOf(claims["estimatedCost"]),
    confirmation: confirmationOf(claims["confirmation"]),
    expiresAtMs: Number(claims["exp"]) * 1_000,
    tokenId: textOf(claims["jti"]),
  };
}

function moneyOf(value: JsonValue | undefined): Money | null {
  const members = membersOf(value);
  if (members === undefined) return null;
  return { microUnits: Number(members["microUnits"]), currency: textOf(members["currency"]) };
}

function confirmationOf(value: JsonValue | undefined): TokenConfirmation | null {
  const members = membersOf(value);
  if (members === undefined) return null;
  const optional = (name: string) => (members[name] === undefined ? null : textOf(members[name]));
  const confirms = {
    tool: textOf(members["tool"]),
    callId: optional("callId"),
    argumentsDigest: optional("argumentsDigest"),
  };
  return { id: textOf(members["id"]), confirms };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function membersOf(value: JsonValue | undefined): Members | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as Members;
}

function hasOthers(members: Members, names: readonly string[]): boolean {
  return Object.keys(members).some((name) => !names.includes(name));
}

function isId(value: JsonValue | undefined): boolean {
  return typeof value === "string" && isIdText(value);
}

function isWhole(value: JsonValue | undefined, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most;
}

function quotedNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

function failed(message: string): ClaimsResult {
  return { ok: false, message };
}
