import type { RecordHeader } from "../runtime/ports.ts";
import { CallgateError } from "./callgate-error.ts";
import type { ProposalToken, ProposedCall } from "./gate-types.ts";

/** As `services/adapters/tokens` reads it; that folder is loaded where tokens are verified alone. */
const TOKEN_HEADER = "callgate-token";

/** @throws CallgateError `invalid_input` where the program gives no token. */
export async function tokenHeaders(
  token: ProposalToken,
  call: ProposedCall,
): Promise<readonly RecordHeader[]> {
  const value: unknown = typeof token === "string" ? token : await asked(token, call);
  if (typeof value === "string" && value !== "") return [{ name: TOKEN_HEADER, value }];
  throw new CallgateError("invalid_input", "the call cannot be proposed: `token` gave no text");
}

async function asked(token: Exclude<ProposalToken, string>, call: ProposedCall): Promise<unknown> {
  try {
    return await token(call);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `the call cannot be proposed: \`token\` threw: ${why}`;
    throw new CallgateError("invalid_input", message, { cause });
  }
}
