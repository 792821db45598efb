/** `callgate token create | list | revoke`: the access tokens of `callgate serve`. */
import { join } from "node:path";
import { systemClock } from "../../adapters/system/clock.ts";
import {
  createAccessToken,
  listAccessTokens,
  type Role,
  revokeAccessToken,
  type StoredToken,
  type TokenGrant,
} from "../../adapters/tokens/access-tokens.ts";
import { speakerProblem } from "../../core/speaker.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { NO_BROKERS, namesBrokers, openConfig } from "../../process/open-config.ts";
import { fileError } from "../../process/text-files.ts";
import { conversationProblem } from "../../wire/input-rules.ts";
import { DATA_DIR_ELSE } from "../commands/cli.ts";
import type { Terminal } from "../output/terminal.ts";
import { printable } from "../output/text.ts";

/** Where the tokens are: as `callgate serve` with the same options reads them. */
export type TokenLocation = { readonly dataDir?: string; readonly config?: string };

export type CreateOptions = TokenLocation & {
  readonly name: string;
  readonly role: readonly Role[];
  readonly tenant: string;
  readonly allTenants?: true;
  readonly agent?: string;
  readonly conversation?: string;
  readonly platform?: true;
  /** Days; absent: it does not expire. */
  readonly expiresDays?: string;
  readonly json?: true;
};

const TOKENS = "tokens";
const DAY_MS = 86_400_000;
const DAYS_MAX = 3_650;

export async function createToken(options: CreateOptions, { out }: Terminal): Promise<ExitCode> {
  const grant = grantOf(options);
  const directory = tokensOf(options);
  const token = written(directory, () => createAccessToken(directory, grant, systemClock.nowMs()));
  await out.write(
    options.json === true ? `${JSON.stringify({ token, ...grant })}\n` : `${token}\n`,
  );
  return EXIT_OK;
}

export async function listTokens(
  options: TokenLocation & { readonly json?: true },
  { out }: Terminal,
): Promise<ExitCode> {
  const directory = tokensOf(options);
  const tokens = written(directory, () => listAccessTokens(directory));
  const text =
    options.json === true
      ? JSON.stringify(tokens.map(({ hash: _hash, ...shown }) => shown))
      : tokens.length === 0
        ? `${directory} has no tokens: make one with callgate token create`
        : tokens.map(tokenLine).join("\n");
  await out.write(`${text}\n`);
  return EXIT_OK;
}

export async function revokeToken(
  id: string,
  options: TokenLocation,
  { out }: Terminal,
): Promise<ExitCode> {
  const directory = tokensOf(options);
  const isRevoked = written(directory, () => revokeAccessToken(directory, id));
  if (!isRevoked) throw usageError(`${id}: no token has this id; see callgate token list`);
  await out.write(`${id}: servers refuse it within a second\n`);
  return EXIT_OK;
}

function tokensOf({ dataDir, config: file }: TokenLocation): string {
  if (dataDir !== undefined) return join(dataDir, TOKENS);
  const config = openConfig(file, [], NO_BROKERS);
  return join(namesBrokers(config) ? config.serve.directory : DATA_DIR_ELSE, TOKENS);
}

function grantOf(options: CreateOptions): TokenGrant {
  const { name, role: roles, tenant, agent, conversation } = options;
  const problem =
    speakerProblem(name, "--name") ??
    conversationProblem({ tenantId: tenant, conversationId: conversation ?? "-" });
  if (problem !== undefined) throw usageError(problem);
  const platform = options.platform === true;
  if (platform && !roles.includes("propose")) {
    throw usageError("--platform: only a token with the role `propose` states anything of a call");
  }
  const isAgents = agent !== undefined || conversation !== undefined;
  const decides = roles.find((one) => one === "approve" || one === "admin");
  if (isAgents && decides !== undefined) {
    throw usageError(`--role ${decides}: an agent must not answer held calls; make two tokens`);
  }
  return {
    ...{ name, roles, platform },
    tenantId: options.allTenants === true ? null : tenant,
    agentId: agent ?? null,
    conversationId: conversation ?? null,
    expiresAtMs: expiryOf(options.expiresDays),
  };
}

function expiryOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const days = Number(text);
  if (/^\d{1,4}$/.test(text) && days >= 1 && days <= DAYS_MAX) {
    return systemClock.nowMs() + days * DAY_MS;
  }
  throw usageError(`--expires-days: give whole days, 1 to ${DAYS_MAX}`);
}

function written<T>(directory: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw fileError("write", directory, error);
  }
}

const NAME_CHARACTERS = 64;

function tokenLine(token: StoredToken): string {
  const { id, name, roles, tenantId, agentId, conversationId, platform, expiresAtMs } = token;
  const facts = [
    printable(name, NAME_CHARACTERS),
    `${roles.join(", ")}${platform ? " (platform)" : ""}`,
    tenantId === null ? "all tenants" : `tenant ${tenantId}`,
    ...(agentId === null ? [] : [`agent ${agentId}`]),
    ...(conversationId === null ? [] : [`conversation ${conversationId}`]),
    expiresAtMs === null ? "does not expire" : `until ${new Date(expiresAtMs).toISOString()}`,
  ];
  return `${id}  ${facts.join("; ")}`;
}
