// The HTTP application on a gate in memory, without a socket.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createProcessMetrics } from "../../services/adapters/metrics/process-metrics.ts";
import { systemClock } from "../../services/adapters/system/clock.ts";
import {
  AccessTokens,
  createAccessToken,
  type Role,
  type TokenGrant,
} from "../../services/adapters/tokens/access-tokens.ts";
import { composeCallgate } from "../../services/client/compose-callgate.ts";
import { GateClient } from "../../services/client/gate-client.ts";
import { linkToEmbedded } from "../../services/library/embedded-link.ts";
import { type Embedded, openEmbedded } from "../../services/library/open-embedded.ts";
import { quietLogger } from "../../services/runtime/quiet-logger.ts";
import { createServeApp } from "../../services/serve/serve-app.ts";
import type { ServeApp } from "../../services/serve/serve-env.ts";
import type { ServedGate } from "../../services/serve/served-gate.ts";

const TIMEOUT_MS = 30_000;

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, which the tests assert
export type Answer = { readonly status: number; readonly body: any };

export interface OpenServeApp {
  readonly app: ServeApp;
  readonly served: ServedGate;
  readonly embedded: Embedded;
  /** Makes a token; without options it may propose, execute, approve and read. */
  token(grant?: Partial<TokenGrant>): string;
  post(path: string, body: unknown, token?: string): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  /** Another server on the same gate, as after a restart. */
  again(): OpenServeApp;
  /** Begins the end of the server. */
  end(): void;
}

export const ALL_ROLES: readonly Role[] = ["propose", "execute", "approve", "read"];

/** @param policy the document of a policy, without `policy_engine` */
export async function openServeApp(policy: object): Promise<OpenServeApp> {
  const embedded = await openEmbedded({ policy: { document: policy }, dataDir: false });
  onTestFinished(() => embedded.close());
  return serveOn(embedded);
}

function serveOn(embedded: Embedded): OpenServeApp {
  const directory = mkdtempSync(join(tmpdir(), "callgate-tokens-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const link = linkToEmbedded(embedded);
  const client = new GateClient(link, { timeoutMs: TIMEOUT_MS, onLost: undefined });
  const gate = composeCallgate(link, client);
  const served: ServedGate = { gate, client, link, clock: systemClock, logger: quietLogger };
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const app = createServeApp({
    served,
    access: {
      ...{ tokens: new AccessTokens(directory), clock: systemClock, verifyJwt: null },
      ...{ isOpen: false, isOwnHost: () => true },
    },
    metrics: createProcessMetrics("serve"),
    ending: ending.signal,
  });
  const makeToken = (grant: Partial<TokenGrant> = {}): string => {
    const subject = { tenantId: null, agentId: null, conversationId: null, expiresAtMs: null };
    const whole = { name: "tester", roles: ALL_ROLES, platform: true, ...subject, ...grant };
    return createAccessToken(directory, whole, Date.now());
  };
  const own = makeToken();
  const send = async (path: string, token: string, init: RequestInit): Promise<Answer> => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await app.request(path, { headers, ...init });
    return { status: answer.status, body: await answer.json() };
  };
  return {
    ...{ app, served, embedded, token: makeToken },
    post: (path, body, token = own) =>
      send(path, token, { method: "POST", body: JSON.stringify(body) }),
    get: (path, token = own) => send(path, token, {}),
    again: () => serveOn(embedded),
    end: () => ending.abort(),
  };
}
