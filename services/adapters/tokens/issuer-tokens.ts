/** JWTs of an identity provider, for those who have one: what their claims allow. */
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import { ROLES, type Role, type TokenGrant } from "./access-tokens.ts";

export type IssuerSettings = {
  readonly issuer: string;
  readonly audience: string;
  /** Address of the issuer's keys (JWKS). */
  readonly jwksUrl: string;
  /** Claim with the roles: a list, or names separated by blanks. */
  readonly rolesClaim: string;
  readonly tenantClaim: string;
  readonly agentClaim: string;
};

/** `message` continues a sentence about the token; nothing of the token is quoted. */
export type IssuedToken =
  | { readonly ok: true; readonly grant: TokenGrant }
  | { readonly ok: false; readonly message: string; readonly isUnavailable: boolean };

/** An issuer signs; a shared secret would let every server of it sign as well. */
const ALGORITHMS = [
  "EdDSA",
  "ES256",
  "ES384",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
];
const CLOCK_TOLERANCE_S = 5;
const TIMEOUT_MS = 5_000;
const DEFAULT_TENANT = "default";
const PLATFORM = "platform";

/** Verifies tokens of one issuer; its keys are fetched when first needed, and again as they change. */
export class IssuerTokens {
  readonly #settings: IssuerSettings;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;

  constructor(settings: IssuerSettings) {
    this.#settings = settings;
    this.#keys = createRemoteJWKSet(new URL(settings.jwksUrl), { timeoutDuration: TIMEOUT_MS });
  }

  /** Never rejects. */
  async verify(token: string): Promise<IssuedToken> {
    const { issuer, audience } = this.#settings;
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        ...{ issuer, audience, algorithms: ALGORITHMS, clockTolerance: CLOCK_TOLERANCE_S },
        requiredClaims: ["exp", "sub"],
      });
      return this.#grantOf(payload);
    } catch (error) {
      return refused(error);
    }
  }

  #grantOf(claims: JWTPayload): IssuedToken {
    const { rolesClaim, tenantClaim, agentClaim } = this.#settings;
    const names = namesOf(claims[rolesClaim]);
    const roles = ROLES.filter((role) => names.includes(role));
    if (roles.length === 0) return failed(`has no role of ours in the claim \`${rolesClaim}\``);
    const [tenantId = DEFAULT_TENANT, agentId = null] = [tenantClaim, agentClaim].map((name) =>
      textOf(claims[name]),
    );
    const decides = roles.some((role) => role === "approve" || role === "admin");
    if (agentId !== null && decides) return failed("is an agent's, and must not answer held calls");
    const platform = names.includes(PLATFORM) && roles.includes("propose");
    const name = claims.sub ?? "";
    const expiresAtMs = (claims.exp ?? 0) * 1_000;
    const grant = { name, roles, tenantId, agentId, conversationId: null, platform, expiresAtMs };
    return { ok: true, grant };
  }
}

function namesOf(claim: unknown): readonly string[] {
  if (typeof claim === "string")
    return claim.split(" ").filter((name): name is Role => name !== "");
  return Array.isArray(claim) ? claim.filter((name) => typeof name === "string") : [];
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === "string" && claim !== "" ? claim : undefined;
}

function refused(error: unknown): IssuedToken {
  if (error instanceof errors.JWTExpired) return failed("has expired");
  const isOfToken =
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    error.code !== "ERR_JOSE_GENERIC";
  if (isOfToken) return failed("is not valid");
  return {
    ok: false,
    message: "cannot be checked: the issuer's keys cannot be read",
    isUnavailable: true,
  };
}

function failed(message: string): IssuedToken {
  return { ok: false, message, isUnavailable: false };
}
