/**
 * Starts an MCP server by its command, asks it for its tools over stdio, and ends it. The server and
 * all that it started are one process group, which is ended by its id.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { environmentWith } from "../../../adapters/config/read-env.ts";
import { type ExitError, environmentError } from "../../../process/exit-error.ts";
import { splitLines } from "../../input/read-lines.ts";
import { printable } from "../../output/text.ts";
import { isMap, type JsonMap } from "../import/tool-definition.ts";

const TIME_LIMIT_MS = 60_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const PAGES_MAX = 100;
const STDERR_CHARACTERS = 500;
const PROTOCOL = "2025-06-18";
const ENDS_WITHIN_MS = 2_000;

/** The tools of all pages, in the form of one `tools/list`. @throws ExitError */
export async function askMcpServer(
  command: string,
  timeLimitMs: number = TIME_LIMIT_MS,
): Promise<unknown> {
  const server = new McpServer(command);
  const limit = new AbortController();
  const late = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(
      () => reject(server.problem(`did not answer within ${timeLimitMs / 1000} s`)),
      timeLimitMs,
    );
    limit.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  try {
    return await Promise.race([listTools(server), late]);
  } finally {
    limit.abort();
    await server.end();
  }
}

async function listTools(server: McpServer): Promise<unknown> {
  const clientInfo = { name: "callgate", version: "1" };
  await server.request("initialize", { protocolVersion: PROTOCOL, capabilities: {}, clientInfo });
  server.notify("notifications/initialized");
  const tools: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const result = await server.request("tools/list", cursor === undefined ? {} : { cursor });
    tools.push(...(Array.isArray(result["tools"]) ? result["tools"] : []));
    cursor = result["nextCursor"];
    if (typeof cursor !== "string") return { tools };
  }
  throw server.problem(`has more than ${PAGES_MAX} pages of tools`);
}

class McpServer {
  readonly #command: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<{ readonly bytes: Buffer | null }>;
  readonly #closed: Promise<void>;
  #errors = "";
  #id = 0;

  constructor(command: string) {
    this.#command = command;
    this.#child = spawn(command, { shell: true, detached: true, env: environmentWith({}) });
    this.#closed = new Promise((resolve) => void this.#child.once("close", () => resolve()));
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-STDERR_CHARACTERS);
    });
    // A server that ends early closes its input; the missing answer says so.
    for (const emitter of [this.#child, this.#child.stdin]) {
      emitter.on("error", (error: Error) => {
        this.#errors += error.message;
      });
    }
    this.#lines = splitLines(this.#child.stdout, ANSWER_BYTES_MAX)[Symbol.asyncIterator]();
  }

  async request(method: string, params: object): Promise<JsonMap> {
    this.#id += 1;
    const id = this.#id;
    this.#send({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const line = await this.#lines.next();
      if (line.done === true) throw this.problem("ended before it answered");
      const message = parsed(line.value.bytes);
      if (message === null || message["id"] !== id) continue;
      if (isMap(message["result"])) return message["result"];
      throw this.problem(`answered ${method} with ${JSON.stringify(message["error"] ?? null)}`);
    }
  }

  notify(method: string): void {
    this.#send({ jsonrpc: "2.0", method });
  }

  problem(what: string): ExitError {
    const said = this.#errors.trim();
    const why = said === "" ? "" : `; it said: ${printable(said, STDERR_CHARACTERS)}`;
    return environmentError(
      `--mcp: \`${printable(this.#command, STDERR_CHARACTERS)}\` ${what}${why}; try the command by itself`,
    );
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    this.#signal("SIGTERM");
    const timer = setTimeout(() => this.#signal("SIGKILL"), ENDS_WITHIN_MS);
    await this.#closed;
    clearTimeout(timer);
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // The group has ended already.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** Null: the line is no JSON object. Servers also write their logs there. */
function parsed(bytes: Buffer | null): JsonMap | null {
  if (bytes === null) return null;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isMap(value) ? value : null;
  } catch {
    return null;
  }
}
