// Runs `callgate serve` as an operator does: in a process of its own, on a free port.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAccessToken,
  type Role,
  type TokenGrant,
} from "../../../services/adapters/tokens/access-tokens.ts";
import type { JsonObject } from "../../../services/core/canonical/json-value.ts";
import { startCallgate } from "../run-callgate.ts";

export type ServeOptions = {
  /** Text of the policy; YAML, and so JSON too. */
  readonly policy: string;
  /** Default: a new directory, which `end` removes. */
  readonly directory?: string;
  /** Further options of the command. */
  readonly args?: readonly string[];
  readonly listen?: string;
  /** The gate is in the process, also where `args` name a configuration. */
  readonly embedded?: boolean;
  /** Variables of the process beside those of this one. */
  readonly env?: Readonly<Record<string, string>>;
};

/** A directory with the policy and the data of a server. */
export function makeServeDirectory(policy: string): string {
  const directory = mkdtempSync(join(tmpdir(), "callgate-serve-"));
  writeFileSync(join(directory, "policy.yaml"), policy);
  return directory;
}

export class ServeProcess {
  readonly child: ChildProcess;
  readonly directory: string;
  readonly url: string;
  readonly #ended: Promise<unknown>;
  readonly #log: () => string;

  private constructor(
    child: ChildProcess,
    directory: string,
    url: string,
    ended: Promise<unknown>,
    log: () => string,
  ) {
    this.child = child;
    this.directory = directory;
    this.url = url;
    this.#ended = ended;
    this.#log = log;
  }

  static async start({
    policy,
    directory,
    args = [],
    listen,
    embedded = !args.includes("--config"),
    env,
  }: ServeOptions): Promise<ServeProcess> {
    const where = directory ?? makeServeDirectory(policy);
    const at = ["--listen", listen ?? "127.0.0.1:0"];
    const source = embedded
      ? ["--policy", join(where, "policy.yaml"), "--data-dir", join(where, "data")]
      : [];
    const child = startCallgate(["serve", ...source, ...at, ...args], {
      cwd: where,
      ...(env === undefined ? {} : { env }),
    });
    child.stdin?.end();
    let stdout = "";
    let stderr = "";
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
        stdout += chunk;
        const [, address] = /serving (http:\/\/[^\s,]+)/.exec(stdout) ?? [];
        if (address !== undefined) resolve(address);
      });
      void ended.then(() => reject(new Error(`the server did not start: ${stdout}${stderr}`)));
    });
    return new ServeProcess(child, where, url, ended, () => stderr);
  }

  /** What the server has logged. */
  get log(): string {
    return this.#log();
  }

  /** The token of the first start. */
  get adminToken(): string {
    return readFileSync(join(this.directory, "data", "admin-token"), "utf8").trim();
  }

  /** A new token. */
  token(roles: readonly Role[], grant: Partial<TokenGrant> = {}): string {
    return makeToken(join(this.directory, "data"), roles, grant);
  }

  /** Resident set in bytes. */
  residentBytes(): number {
    const status = readFileSync(`/proc/${String(this.child.pid)}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.#ended;
  }

  /** Kills it and removes its directory. */
  async end(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Sends JSON and reads the answer. */
  async send(
    method: "GET" | "POST",
    path: string,
    { token, body, headers = {} }: SendOptions = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    const answer = isJson ? (JSON.parse(text) as JsonObject) : {};
    return { status: response.status, headers: response.headers, body: answer, text };
  }
}

export type SendOptions = {
  readonly token?: string | undefined;
  /** A string is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare what comes
  readonly body: any;
  readonly text: string;
};

export function makeToken(
  directory: string,
  roles: readonly Role[],
  grant: Partial<TokenGrant> = {},
): string {
  const bound = { tenantId: null, agentId: null, conversationId: null, expiresAtMs: null };
  const whole = { name: "test", roles, platform: false, ...bound, ...grant };
  return createAccessToken(join(directory, "tokens"), whole, Date.now());
}
