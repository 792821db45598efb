import { TokenAuthority } from "../adapters/tokens/token-authority.ts";
import { tokenKeysOf } from "../adapters/tokens/token-keys.ts";
import { CallgateError } from "../client/api/callgate-error.ts";
import type { ProposalAuthority } from "../runtime/ports.ts";

/**
 * @throws CallgateError `invalid_input` if the key set cannot be used; the message contains no key.
 */
export async function authorityFrom(set: object): Promise<ProposalAuthority> {
  const result = await tokenKeysOf(set);
  if (result.ok) return new TokenAuthority(result.keys);
  const message = `the gate cannot be opened: \`proposalKeys\`: ${result.message}`;
  throw new CallgateError("invalid_input", message);
}
