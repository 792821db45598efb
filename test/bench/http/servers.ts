// The servers that are measured, each a process of its own.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { createAccessToken } from "../../../services/adapters/tokens/access-tokens.ts";

const POLICY = `
tool_schemas:
  get_order: { read_only: true, reads: ["order/{order_id}"] }
  charge_card: { effects: [{ resource: "order/{order_id}/payment", kind: charge }] }
`;
/** More than any client sends: the limit of a token is not what is measured. */
const CONFIG = "serve: { requestsPerSecond: 1000000 }\nlog: { level: warn }\n";

export type BenchServer = {
  readonly url: string;
  readonly token: string;
  /** CPU time of the process so far; NaN where the system does not say. */
  cpuMs(): number;
  end(): Promise<void>;
};

const MS_PER_TICK = 10;

function cpuMsOf(pid: number | undefined): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return Number.NaN;
  // After the name, which may hold blanks: state is the first field, user and system time the 12th and 13th.
  const fields = readFileSync(path, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

async function start(
  program: string,
  args: readonly string[],
  address: RegExp,
  token: string,
): Promise<BenchServer> {
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: string): void => {
      text += chunk;
      const [, match] = address.exec(text) ?? [];
      if (match !== undefined) resolve(match);
    };
    child.stdout?.setEncoding("utf8").on("data", read);
    child.stderr?.setEncoding("utf8").on("data", read);
    child.once("error", reject);
    void ended.then(() => reject(new Error(`${program} did not start: ${text}`)));
  });
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { url, token, cpuMs: () => cpuMsOf(child.pid), end };
}

/** The flags for a busy gate in docs/library.md. */
const NODE_ARGS = ["--max-semi-space-size=64", "--initial-old-space-size=512"];
const SERVING = /serving (http:\/\/[^\s,]+)/;

/** `callgate serve` with the gate and its log in the process. */
export function startCallgateServer(directory: string): Promise<BenchServer> {
  const policy = join(directory, "policy.yaml");
  const config = join(directory, "config.yaml");
  writeFileSync(policy, POLICY);
  writeFileSync(config, CONFIG);
  const dataDir = join(directory, "data");
  const everything = { tenantId: null, agentId: null, conversationId: null, expiresAtMs: null };
  const grant = { name: "bench", roles: ["propose"] as const, platform: true, ...everything };
  const token = createAccessToken(join(dataDir, "tokens"), grant, Date.now());
  const main = join(process.cwd(), "dist", "services", "cli", "main.js");
  const source = ["--policy", policy, "--data-dir", dataDir, "--config", config];
  return start(
    process.execPath,
    [...NODE_ARGS, main, "serve", ...source, "--listen", "127.0.0.1:0"],
    SERVING,
    token,
  );
}

/** @param build directory of the compiled bench */
export function startAllowAll(build: string): Promise<BenchServer> {
  return start(
    process.execPath,
    [...NODE_ARGS, join(build, "http", "allow-all-server.js")],
    SERVING,
    "none",
  );
}

const REGO = `package tools
default allow := false
allow if { input.tool == "get_order"; is_string(input.arguments.order_id) }
allow if { input.tool == "charge_card" }
`;

/** The program of OPA: on the path, or where `go install` puts it; undefined: there is none. */
function findOpa(): string | undefined {
  const candidates = ["opa", join(homedir(), "go", "bin", "opa")];
  return candidates.find((one) => spawnSync(one, ["version"], { stdio: "ignore" }).status === 0);
}

/** A stateless policy of the same two tools; undefined: OPA is not on this machine. */
export async function startOpa(directory: string): Promise<BenchServer | undefined> {
  const program = findOpa();
  if (program === undefined) return undefined;
  const policy = join(directory, "policy.rego");
  writeFileSync(policy, REGO);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ["run", "--server", "--addr", `127.0.0.1:${port}`, "--log-level", "info", policy];
  const server = await start(program, args, /(Server initialized)/, "none");
  return { ...server, url };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen({ host: "127.0.0.1", port: 0 }, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
