import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAccessToken, listAccessTokens } from "./access-tokens.ts";

/** Name of the file with the first administrator's token. */
const FIRST_TOKEN = "admin-token";

/**
 * Makes the first administrator's token where the directory has none, in a file that its owner alone
 * may read. @returns the path of the file; null: the file is gone, and other tokens exist.
 * @throws the system's error if it cannot be written
 */
export function makeFirstToken(directory: string, tokens: string, nowMs: number): string | null {
  const path = join(directory, FIRST_TOKEN);
  if (existsSync(path)) return path;
  if (listAccessTokens(tokens).length > 0) return null;
  const grant = { name: "admin", roles: ["admin"], platform: false } as const;
  const subject = { tenantId: null, agentId: null, conversationId: null, expiresAtMs: null };
  const text = createAccessToken(tokens, { ...grant, ...subject }, nowMs);
  writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx", flush: true });
  return path;
}
