import { createMiddleware } from "hono/factory";
import type { Role } from "../../adapters/tokens/access-tokens.ts";
import { Problem } from "../http/problem.ts";
import type { ServeEnv } from "../serve-env.ts";
import type { Principal } from "./principal.ts";

/** Admits principals that have one of the roles; before anything of the request is looked at. */
export function requireRole(...roles: readonly [Role, ...Role[]]) {
  return createMiddleware<ServeEnv>(async (c, next) => {
    assertRole(c.get("principal"), roles);
    await next();
  });
}

/** @throws Problem 401 without a token, 403 with one that has none of the roles. */
function assertRole(principal: Principal, roles: readonly [Role, ...Role[]]): void {
  if (roles.some((role) => principal.roles.has(role))) return;
  const needed = roles.map((role) => `\`${role}\``).join(" or ");
  const remedy = `Send \`Authorization: Bearer <token>\` with a token that \`callgate token create --role ${roles[0]}\` made`;
  if (principal.tokenId === null) {
    const detail = `this needs a token with the role ${needed}`;
    throw new Problem({ status: 401, code: "token_required", detail, at: "Authorization", remedy });
  }
  const detail = `the token of \`${principal.name}\` does not have the role ${needed}`;
  throw new Problem({ status: 403, code: "role_missing", detail, at: "Authorization", remedy });
}
