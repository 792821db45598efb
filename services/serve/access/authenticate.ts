/** Finds out who sent a request. */
import type { AccessTokens, TokenGrant } from "../../adapters/tokens/access-tokens.ts";
import type { IssuerTokens } from "../../adapters/tokens/issuer-tokens.ts";
import type { Clock } from "../../runtime/ports.ts";
import { Problem } from "../http/problem.ts";
import { ANONYMOUS, type Principal, rolesOf } from "./principal.ts";

export type AuthenticatorParts = {
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  /** Null: no issuer is configured. */
  readonly issuer: Pick<IssuerTokens, "verify"> | null;
  /** Whether requests without a token are served: only on a loopback address. */
  readonly isOpen: boolean;
  /** Names under which a browser reaches this server honestly, with the port. */
  readonly isOwnHost: (host: string) => boolean;
};

type RequestHeaders = {
  readonly authorization: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
};

const REMEDY =
  "Send `Authorization: Bearer <token>` with a token that `callgate token create` made";

/** @throws Problem 401, 403 */
export async function authenticate(
  parts: AuthenticatorParts,
  headers: RequestHeaders,
): Promise<Principal> {
  const { authorization } = headers;
  if (authorization === undefined) return anonymous(parts, headers);
  const [, token] = /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization) ?? [];
  if (token === undefined) {
    const detail = "the header `Authorization` is not `Bearer <token>`";
    throw new Problem({
      status: 401,
      code: "token_invalid",
      detail,
      at: "Authorization",
      remedy: REMEDY,
    });
  }
  const stored = parts.tokens.find(token, parts.clock.nowMs());
  if (stored !== null) return principalOf(stored.id, stored);
  if (parts.issuer !== null && token.split(".").length === 3) {
    return await principalOfIssuer(parts.issuer, token);
  }
  const detail = "the token is unknown, withdrawn or expired";
  throw new Problem({
    status: 401,
    code: "token_invalid",
    detail,
    at: "Authorization",
    remedy: REMEDY,
  });
}

function principalOf(tokenId: string, grant: TokenGrant): Principal {
  const { name, roles, tenantId, agentId, conversationId, platform } = grant;
  return { tokenId, name, roles: rolesOf(roles), tenantId, agentId, conversationId, platform };
}

async function principalOfIssuer(
  issuer: Pick<IssuerTokens, "verify">,
  token: string,
): Promise<Principal> {
  const issued = await issuer.verify(token);
  if (issued.ok) return principalOf(`sub:${issued.grant.name}`, issued.grant);
  const detail = `the token ${issued.message}`;
  const at = "Authorization";
  if (issued.isUnavailable) {
    const remedy = "Nothing was decided: try again soon";
    throw new Problem({
      status: 503,
      code: "issuer_unavailable",
      detail,
      at,
      remedy,
      retryAfter: 5,
    });
  }
  throw new Problem({
    status: 401,
    code: "token_invalid",
    detail,
    at,
    remedy: "Get a new token from the issuer",
  });
}

/** A page in a browser must not use the open server of the person who reads the page. */
function anonymous(parts: AuthenticatorParts, { origin, host }: RequestHeaders): Principal {
  if (!parts.isOpen) {
    const detail = "every request to this address needs a token";
    throw new Problem({
      status: 401,
      code: "token_required",
      detail,
      at: "Authorization",
      remedy: REMEDY,
    });
  }
  if (origin !== undefined) {
    const detail = "a request from a web page needs a token";
    throw new Problem({
      status: 403,
      code: "origin_refused",
      detail,
      at: "Origin",
      remedy: REMEDY,
    });
  }
  if (host === undefined || !parts.isOwnHost(host)) {
    const detail = "without a token the server answers only under its loopback address";
    throw new Problem({ status: 403, code: "host_refused", detail, at: "Host", remedy: REMEDY });
  }
  return ANONYMOUS;
}
