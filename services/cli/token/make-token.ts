/** `callgate token make`: signs what a platform vouches for in one turn of an agent. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { systemClock } from "../../adapters/system/clock.ts";
import { signToken } from "../../adapters/tokens/sign-token.ts";
import { readTokenKeys, type TokenKey } from "../../adapters/tokens/token-keys.ts";
import type { JsonObject } from "../../core/canonical/json-value.ts";
import { parseCanonical } from "../../core/canonical/parse-canonical.ts";
import { actionDigest } from "../../core/hash.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { fileError } from "../../process/text-files.ts";
import type { Terminal } from "../output/terminal.ts";

export interface MakeOptions {
  readonly keys: string;
  readonly kid?: string;
  readonly tenant: string;
  readonly conversation: string;
  readonly agent: string;
  readonly turn: string;
  readonly expires: string;
  readonly jti?: string;
  readonly confirmation?: string;
  readonly confirmsTool?: string;
  readonly confirmsCall?: string;
  readonly confirmsArguments?: string;
  readonly confirmsDigest?: string;
  readonly cost?: string;
  readonly json?: true;
}

const SECONDS_MAX = 86_400;
const MICRO = 1_000_000;

export async function runMake(options: MakeOptions, { out }: Terminal): Promise<ExitCode> {
  const key = await signingKey(options.keys, options.kid);
  const claims = claimsOf(options);
  const signed = await signToken(claims, key);
  if (!signed.ok) throw usageError(signed.message);
  const { token } = signed;
  await out.write(options.json === true ? `${JSON.stringify({ token, claims })}\n` : `${token}\n`);
  return EXIT_OK;
}

async function signingKey(file: string, kid: string | undefined): Promise<TokenKey> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw fileError("read", file, error);
  });
  const result = await readTokenKeys(text);
  if (!result.ok) throw usageError(`--keys ${file}: ${result.message}`);
  const keys = [...result.keys.values()];
  const key = keys.findLast((one) => (kid === undefined ? one.canSign : one.keyId === kid));
  if (key !== undefined) return key;
  const what = kid === undefined ? "contains no signing key" : `contains no key \`${kid}\``;
  throw usageError(`--keys ${file}: ${what}: name the file that keygen wrote with --out`);
}

function claimsOf(options: MakeOptions): JsonObject {
  const { tenant, conversation, agent, turn, jti = randomUUID() } = options;
  const cost = options.cost === undefined ? {} : { estimatedCost: costOf(options.cost) };
  const confirmation = confirmationOf(options);
  return {
    ...{ tenantId: tenant, conversationId: conversation, agentId: agent, turn, jti },
    exp: Math.floor(systemClock.nowMs() / 1_000) + secondsOf(options.expires),
    ...cost,
    ...(confirmation === undefined ? {} : { confirmation }),
  };
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (/^\d{1,6}$/.test(text) && seconds >= 1 && seconds <= SECONDS_MAX) return seconds;
  throw usageError(`--expires: give whole seconds, 1 to ${SECONDS_MAX}`);
}

function confirmationOf(options: MakeOptions): JsonObject | undefined {
  const { confirmation: id, confirmsTool: tool, confirmsCall: callId } = options;
  const { confirmsArguments, confirmsDigest } = options;
  const about = [tool, callId, confirmsArguments, confirmsDigest];
  if (id === undefined) {
    if (about.every((one) => one === undefined)) return undefined;
    throw usageError("--confirmation: give the id of the user's confirmation");
  }
  if (tool === undefined) throw usageError("--confirms-tool: name the tool that is confirmed");
  if (confirmsArguments !== undefined && confirmsDigest !== undefined) {
    throw usageError("--confirms-arguments and --confirms-digest say the same: give one of them");
  }
  const digest =
    confirmsArguments === undefined ? confirmsDigest : digestOf(tool, confirmsArguments);
  if (callId === undefined && digest === undefined) {
    throw usageError("--confirms-arguments: say which call of the tool is confirmed");
  }
  return {
    ...{ id, tool },
    ...(callId === undefined ? {} : { callId }),
    ...(digest === undefined ? {} : { argumentsDigest: digest }),
  };
}

function digestOf(tool: string, text: string): string {
  const parsed = parseCanonical(text);
  if (!parsed.ok) throw usageError(`--confirms-arguments: ${parsed.message} (offset ${parsed.at})`);
  return actionDigest(tool, parsed.text);
}

function costOf(text: string): JsonObject {
  const [, amount = "", currency = ""] = /^(\d{1,9}(?:\.\d{1,6})?) ([A-Z]{3})$/.exec(text) ?? [];
  if (amount === "") throw usageError("--cost: write an amount and a currency, as `0.25 USD`");
  return { microUnits: Math.round(Number(amount) * MICRO), currency };
}
