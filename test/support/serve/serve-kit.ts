// The HTTP application on a gate in memory: requests without a socket.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import {
  AccessTokens,
  createAccessToken,
  type TokenGrant,
} from "../../../services/adapters/tokens/access-tokens.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import type { AuthenticatorParts } from "../../../services/serve/access/authenticate.ts";
import { RateLimit } from "../../../services/serve/access/rate-limit.ts";
import { ownHosts } from "../../../services/serve/http/listen.ts";
import { openServedGate } from "../../../services/serve/open-served-gate.ts";
import { createServeApp } from "../../../services/serve/serve-app.ts";
import type { ServeApp } from "../../../services/serve/serve-env.ts";
import type { ServedGate } from "../../../services/serve/served-gate.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the server answers
  readonly body: any;
};

export type Sent = {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object becomes JSON; a text is sent as it is. */
  readonly body?: object | string;
};

export interface ServeKit {
  readonly served: ServedGate;
  readonly app: ServeApp;
  /** Another server for the same gate, with the same tokens. */
  again(): ServeKit;
  /** Begins the end of the server. */
  end(): void;
  get(path: string, sent?: Sent): Promise<Answer>;
  post(path: string, sent?: Sent): Promise<Answer>;
  /** Makes a token; by default without an agent, of the tenant `default`. */
  token(grant: Partial<TokenGrant> & Pick<TokenGrant, "roles">): string;
}

export type KitOptions = Partial<Pick<AuthenticatorParts, "isOpen" | "issuer">> & {
  readonly perSecond?: number;
  readonly corsOrigins?: readonly string[];
};

/** @param policy the text of a policy file */
export async function openServeKit(policy: string, options: KitOptions = {}): Promise<ServeKit> {
  const directory = mkdtempSync(join(tmpdir(), "callgate-serve-"));
  const file = join(directory, "policy.yaml");
  writeFileSync(file, policy);
  const metrics = createProcessMetrics("serve");
  const source = { kind: "embedded", policy: [file], dataDir: join(directory, "data") } as const;
  const served = await openServedGate(source, {
    ...{ logger: quietLogger, metrics },
    onLost: () => undefined,
  });
  onTestFinished(async () => {
    await served.gate.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return serveOn(served, directory, options);
}

function serveOn(served: ServedGate, directory: string, options: KitOptions): ServeKit {
  const metrics = createProcessMetrics("serve");
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const tokens = join(directory, "tokens");
  const { isOpen = true, issuer = null, perSecond = 1_000_000, corsOrigins = [] } = options;
  const app = createServeApp({
    ...{ served, metrics, corsOrigins, ending: ending.signal, publicUrl: null },
    access: {
      ...{ tokens: new AccessTokens(tokens), clock: systemClock, isOpen, issuer },
      isOwnHost: ownHosts([]),
    },
    publicUrl: null,
    rateLimit: new RateLimit(perSecond, systemClock),
  });
  const send = async (method: string, path: string, sent: Sent = {}): Promise<Answer> => {
    const { token, headers = {}, body } = sent;
    const all = {
      host: "127.0.0.1:8181",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    };
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const init = { method, headers: all, ...(text === undefined ? {} : { body: text }) };
    const answer = await app.request(path, init);
    const said = await answer.text();
    const isJson = /json/.test(answer.headers.get("content-type") ?? "");
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson ? JSON.parse(said) : said,
    };
  };
  return {
    ...{ served, app },
    again: () => serveOn(served, directory, options),
    end: () => ending.abort(),
    get: (path, sent) => send("GET", path, sent),
    post: (path, sent) => send("POST", path, sent),
    token: (grant) => {
      const subject = { tenantId: "default", agentId: null, conversationId: null };
      const others = { name: "alice", platform: false, expiresAtMs: null };
      return createAccessToken(tokens, { ...others, ...subject, ...grant }, Date.now());
    },
  };
}

/** A policy with a write, a read, and a tool that a person must allow. */
export const POLICY = `
preset: balanced
authorization:
  tiers:
    - { name: reads, pattern: "get_*", action: allowlist }
    - { name: removals, pattern: "delete_*", action: hitl }
    - { name: money, pattern: "charge_*", action: allowlist }
tool_schemas:
  get_order: { read_only: true }
  charge_card:
    effects: [{ resource: "order/{order_id}/payment", kind: charge }]
  delete_file: { read_only: false }
  delete_account:
    sensitive: [ssn]
`;
