/**
 * Authenticates proposals by the token in their record's header: members that only the platform may
 * set are taken from the token.
 *
 * AUTH-1 Tenant, conversation, agent, turn, confirmation and estimated cost of a proposal are the
 *    token's, or the proposal is refused.
 * AUTH-2 Expiry is compared with gate time alone, never with this host's clock.
 */
import type { EnvelopeRejection, Money, ProposalInput } from "../../core/inputs.ts";
import type { LogRecord, ProposalAuthority } from "../../runtime/ports.ts";
import type { TokenClaims } from "./token-claims.ts";
import type { TokenKeys } from "./token-keys.ts";
import { TOKEN_CHARACTERS_MAX, type VerifiedToken, verifyToken } from "./verify-token.ts";

export const TOKEN_HEADER = "callgate-token";

/** Most tokens whose verification is cached; the calls of a turn share a token. */
const TOKENS_MAX = 4_096;

const NO_TOKEN = failed(`the record has no header \`${TOKEN_HEADER}\``);
const TWO_TOKENS = failed(`the record has more than one header \`${TOKEN_HEADER}\``);
const TOO_LONG = failed("the token is too long");

type Refused = { readonly ok: false; readonly message: string };

export class TokenAuthority implements ProposalAuthority {
  #keys: TokenKeys;
  /** By text, oldest first. */
  #checked = new Map<string, VerifiedToken>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(keys: TokenKeys) {
    this.#keys = keys;
  }

  /** Ids of the current keys. */
  get keyIds(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** Replaces all keys; tokens of other keys are refused from now on. */
  setKeys(keys: TokenKeys): void {
    this.#keys = keys;
    this.#checked = new Map();
    this.#underWay.clear();
  }

  pending(record: LogRecord): Promise<void> | null {
    const token = tokenOf(record);
    if (typeof token !== "string" || this.#checked.has(token)) return null;
    const underWay = this.#underWay.get(token) ?? this.#check(token);
    this.#underWay.set(token, underWay);
    return underWay;
  }

  async #check(token: string): Promise<void> {
    const keys = this.#keys;
    const verified = await verifyToken(token, keys);
    // The keys were replaced meanwhile, so the token must be verified again.
    if (keys !== this.#keys) return;
    this.#underWay.delete(token);
    const [oldest] = this.#checked.keys();
    if (this.#checked.size >= TOKENS_MAX && oldest !== undefined) this.#checked.delete(oldest);
    this.#checked.set(token, verified);
  }

  vouch(proposal: ProposalInput, record: LogRecord, nowMs: number): ProposalInput {
    const token = tokenOf(record);
    if (typeof token !== "string") return refused(proposal, token.message);
    const verified = this.#checked.get(token);
    if (verified === undefined) throw new Error("the token was used before it was verified");
    if (!verified.ok) return refused(proposal, `the token ${verified.message}`);
    const { claims, keyId } = verified;
    if (nowMs >= claims.expiresAtMs) return refused(proposal, "the token has expired");
    const other = findContradiction(proposal, claims);
    if (other !== undefined) return refused(proposal, `the token is for another \`${other}\``);
    return vouchedFor(proposal, claims, keyId);
  }
}

function tokenOf({ headers }: LogRecord): string | Refused {
  let token: string | undefined;
  for (const { name, value } of headers) {
    if (name !== TOKEN_HEADER) continue;
    if (token !== undefined) return TWO_TOKENS;
    token = value;
  }
  if (token === undefined) return NO_TOKEN;
  return token.length > TOKEN_CHARACTERS_MAX ? TOO_LONG : token;
}

/** Finds a member of the payload that contradicts the token. Absent members are the token's. */
function findContradiction(proposal: ProposalInput, claims: TokenClaims): string | undefined {
  if (proposal.tenantId !== claims.tenantId) return "tenantId";
  if (proposal.conversationId !== claims.conversationId) return "conversationId";
  const differs = (said: string | null, vouched: string | null) =>
    said !== null && said !== vouched;
  if (differs(proposal.agentId, claims.agentId)) return "agentId";
  if (differs(proposal.turn, claims.turn)) return "turn";
  if (differs(proposal.confirmation, claims.confirmation?.id ?? null)) return "confirmation";
  const { estimatedCost: vouched } = claims;
  // The agent's estimate is ignored where the platform made none, and must not differ from its
  // one.
  const isOther = vouched !== null && !isSame(proposal.estimatedCost ?? vouched, vouched);
  return isOther ? "estimatedCost" : undefined;
}

function isSame(one: Money, other: Money): boolean {
  return one.microUnits === other.microUnits && one.currency === other.currency;
}

function vouchedFor(proposal: ProposalInput, claims: TokenClaims, keyId: string): ProposalInput {
  const { agentId, turn, estimatedCost, confirmation, tokenId, expiresAtMs } = claims;
  return {
    ...proposal,
    ...{ agentId, turn, estimatedCost },
    confirmation: confirmation?.id ?? null,
    vouched: { tokenId, keyId, expiresAtMs, confirms: confirmation?.confirms ?? null },
  };
}

/** Refuses the proposal, without the members that only the platform may set. */
function refused(proposal: ProposalInput, message: string): ProposalInput {
  const rejected: EnvelopeRejection = { reason: "unauthenticated", message };
  const unsaid = { agentId: null, turn: null, estimatedCost: null, confirmation: null };
  return { ...proposal, ...unsaid, rejected };
}

function failed(message: string): Refused {
  return { ok: false, message };
}
