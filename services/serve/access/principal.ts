/** Who sent a request, and what that allows. */
import type { Role } from "../../adapters/tokens/access-tokens.ts";

export type Principal = {
  /** Approvals and the log name it. */
  readonly name: string;
  readonly roles: ReadonlySet<Role>;
  /** Null: all tenants. */
  readonly tenantId: string | null;
  readonly agentId: string | null;
  /** Null: all conversations of the tenant. */
  readonly conversationId: string | null;
  /** Whether the credential may state what only a platform knows. */
  readonly platform: boolean;
  /** Null: no credential; whoever reaches a loopback address. */
  readonly tokenId: string | null;
};

export const DEFAULT_TENANT = "default";

/** Whoever reaches a loopback address without a token. */
export const ANONYMOUS: Principal = {
  name: "anonymous",
  roles: new Set<Role>(["propose", "read"]),
  tenantId: DEFAULT_TENANT,
  agentId: null,
  conversationId: null,
  platform: false,
  tokenId: null,
};

/** Roles that a role includes. An administrator neither proposes nor runs calls. */
const INCLUDED: { readonly [role in Role]?: readonly Role[] } = { admin: ["approve", "read"] };

export function rolesOf(roles: readonly Role[]): ReadonlySet<Role> {
  return new Set(roles.flatMap((role) => [role, ...(INCLUDED[role] ?? [])]));
}

type Conversation = { readonly tenantId: string; readonly conversationId: string };

/** Whether the principal may know of the conversation. */
export function maySee(principal: Principal, { tenantId, conversationId }: Conversation): boolean {
  if (principal.tenantId !== null && principal.tenantId !== tenantId) return false;
  return principal.conversationId === null || principal.conversationId === conversationId;
}
