// Requests of one principal that may do everything, for tests of what is behind the routes.
import type { Role, TokenGrant } from "../../../services/adapters/tokens/access-tokens.ts";
import { type Answer, openServeKit, type ServeKit } from "./serve-kit.ts";

const ALL_ROLES: readonly Role[] = ["propose", "execute", "approve", "read"];

export interface OpenServeApp {
  readonly kit: ServeKit;
  /** Makes a token; of what the grant leaves out it may do everything. */
  token(grant?: Partial<TokenGrant>): string;
  post(path: string, body: object, token?: string): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  /** Another server for the same gate. */
  again(): OpenServeApp;
}

/** @param policy the document of a policy */
export async function openServeApp(policy: object): Promise<OpenServeApp> {
  // JSON is YAML.
  return serveAll(await openServeKit(JSON.stringify(policy), { isOpen: false }));
}

function serveAll(kit: ServeKit): OpenServeApp {
  const everything = { name: "tester", roles: ALL_ROLES, platform: true, tenantId: null };
  const makeToken = (grant: Partial<TokenGrant> = {}) => kit.token({ ...everything, ...grant });
  const own = makeToken();
  return {
    kit,
    token: makeToken,
    post: (path, body, token = own) => kit.post(path, { token, body }),
    get: (path, token = own) => kit.get(path, { token }),
    again: () => serveAll(kit.again()),
  };
}
