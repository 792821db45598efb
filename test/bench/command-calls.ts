/** The cost of a decision on a shell line or an SQL statement, beside that of a plain call. */
import { decide } from "../../services/core/decide/decide.ts";
import type { ProposalInput } from "../../services/core/inputs.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { benchPolicy } from "./engine.ts";
import { heldCall } from "./every-check.ts";

export const PLAIN_CALL_ROW = "decide, a plain call";
export const SHELL_CALL_ROW = "decide, different shell lines of 80 characters";

const LINE = "cd packages/api && npm run build -- --verbose 2>&1 | tail -n 20 && git status -s";
/** Lines of one length that differ each time, since the gate caches a repeated line. */
const otherLine = (at: number): string => LINE.replace("api", String(at % 100_000));
const RULES = [
  { run: "rm|mv", writes: "root_or_home", tier: "never" },
  { run: "cp|mv|rm|mkdir|touch|>" },
  { run: "git add|commit|checkout -b" },
  { run: "npm|pnpm|yarn test|run {build|lint|test}" },
];
const POLICY = {
  authorization: {
    tiers: [
      { name: "work", pattern: "*", action: "allowlist" },
      { name: "ask", pattern: "-", action: "hitl" },
      { name: "never", pattern: "-", action: "deny" },
    ],
  },
  tool_schemas: {
    plain: { read_only: true },
    bash: { commands: { rules: RULES, unclear: "ask" } },
    query: { commands: { language: "sql", unclear: "ask" } },
  },
};

const QUERY = "select o.id, sum(o.total) from orders o join users u on u.id = o.user where 1 = ";
const LONG = `cat ${`${"src/directory/".repeat(4)}a.ts `.repeat(1_070)}`;

const ROWS: readonly (readonly [
  name: string,
  tool: string,
  argsOf: (at: number) => object,
  runs: number,
])[] = [
  [PLAIN_CALL_ROW, "plain", () => ({ text: LINE }), 20_000],
  ["decide, one shell line of 80 characters again", "bash", () => ({ command: LINE }), 20_000],
  [SHELL_CALL_ROW, "bash", (at) => ({ command: otherLine(at) }), 20_000],
  ["decide, one SQL statement again", "query", () => ({ query: `${QUERY}1` }), 20_000],
  ["decide, different SQL statements", "query", (at) => ({ query: `${QUERY}${at}` }), 20_000],
  ["decide, different shell lines of 64 KB", "bash", (at) => ({ command: `${LONG}${at}` }), 20],
];

/** @throws Error where a call was not allowed: another path would have been timed. */
export function benchCommandCalls(): readonly BenchRow[] {
  const policy = benchPolicy(POLICY);
  return ROWS.map(([name, tool, argsOf, runs]) => {
    const call = (at: number): ProposalInput => ({
      ...heldCall(at),
      tool,
      arguments: JSON.stringify(argsOf(at)),
    });
    const samples = new Float64Array(runs);
    for (let at = -runs; at < runs; at += 1) {
      const input = call(at + runs);
      const start = performance.now();
      const [event] = decide(undefined, input, policy, 1_700_000_000_000);
      if (at >= 0) samples[at] = (performance.now() - start) * 1_000;
      if (event?.type !== "allowed") throw new Error(`${name}: ${event?.type} instead of allowed`);
    }
    samples.sort();
    return { name, unit: "µs", p50: percentile(samples, 0.5), p99: percentile(samples, 0.99) };
  });
}
