/** Finds out who sent a request. */
import type { AccessTokens } from "../../adapters/tokens/access-tokens.ts";
import type { Clock } from "../../runtime/ports.ts";
import { Problem } from "../http/problem.ts";
import { ANONYMOUS, type Principal, rolesOf } from "./principal.ts";

/** Verifies the JWT of an issuer; null: it is none of the issuer's, or not valid. */
export type VerifyJwt = (token: string) => Promise<Principal | null>;

export type AuthenticatorParts = {
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  /** Null: no issuer is configured. */
  readonly verifyJwt: VerifyJwt | null;
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
  if (stored !== null) {
    const { id: tokenId, name, roles, tenantId, agentId, conversationId, platform } = stored;
    return { tokenId, name, roles: rolesOf(roles), tenantId, agentId, conversationId, platform };
  }
  const issued = await parts.verifyJwt?.(token);
  if (issued !== null && issued !== undefined) return issued;
  const detail = "the token is unknown, withdrawn or expired";
  throw new Problem({
    status: 401,
    code: "token_invalid",
    detail,
    at: "Authorization",
    remedy: REMEDY,
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
