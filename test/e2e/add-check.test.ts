// Adds a check in five files, to a copy of the repository: nothing else is written by hand.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findWordUses } from "../support/language/count-words.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What the copy needs to generate, compile and test. */
const PARTS = [
  "services",
  "schemas",
  "docs",
  "tasks",
  "test",
  "infra",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
];

const CHECK = `/** An agent that the policy does not list may only repeat a call that was allowed before. */
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";

type Settings = readonly string[] | null;

export const listedAgentsCheck = defineCheck<Settings>("listed_agents", {
  find: findUnlisted,
  compile: ({ agents }) => agents ?? null,
  row: {
    rule: () => "agents",
    value: ({ proposal }) => \`agent \${proposal.agentId ?? "without a name"}\`,
  },
});

function findUnlisted(call: CallContext, agents: Settings): readonly Finding[] {
  const { proposal, priorCall } = call;
  if (agents === null || agents.includes(proposal.agentId ?? "")) return NOTHING;
  if (priorCall?.status === "succeeded") return NOTHING;
  return [finding({ reason: "agent_not_listed", rule: "agents", disposition: "stop" })];
}
`;

const ROW = `  agent_not_listed: {
    row: "listed_agents",
    mode: "enforce",
    group: "permission",
    modelText: "This call was not run because you are not on the list of agents here. Stop calling tools; tell the user.",
    cause: "The policy has \`agents\`, and the agent of the call is not among them.",
    remedy: "Add the agent to \`agents\`.",
  },
`;

const EXAMPLES = `import type { CheckExamples } from "../../support/gate-story/check-examples.ts";

const LISTED = { agents: ["a"], tool_schemas: { t: {} } };

export const examples: CheckExamples = {
  reasons: {
    agent_not_listed: async (tell) => (await tell(LISTED)).outcome("t", {}, { agentId: "b" }),
  },
  keys: [
    {
      key: "agents",
      values: [["a"], undefined],
      base: { tool_schemas: { t: {} } },
      steps: [{ tool: "t", overrides: { agentId: "b" } }],
    },
  ],
};
`;

/** The five files, and what is written into each: a new file, or a text before another one. */
const FILES: Readonly<Record<string, string | readonly [before: string, text: string]>> = {
  "services/core/checks/listed-agents.ts": CHECK,
  "test/conformance/checks/listed-agents.ts": EXAMPLES,
  "services/adapters/policy/vocabulary/blocks.ts": [
    "  tools: key(tools,",
    '  agents: rule(key(texts, "Agents that may call tools. Default: all.")),\n',
  ],
  "services/core/reasons/check-reasons.ts": ["  budget_steps: {", ROW],
  "docs/engine.md": [
    "## ",
    "An agent that `agents` does not list is refused with `agent_not_listed`.\n\n",
  ],
};

/** The check's position in the order is in the file of the reason. */
const ORDER: readonly [before: string, text: string] = ['  "budgets",', '  "listed_agents",\n'];

/** The compiler of `npm test`: it takes a tenth of the processor time of `tsc`. */
const TSC = "typescript-native/bin/tsc";

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "callgate-check-"));
  for (const part of PARTS) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  for (const [path, written] of Object.entries(FILES)) {
    if (typeof written === "string") writeFileSync(join(copy, path), written);
    else insert(path, written);
  }
  insert("services/core/reasons/check-reasons.ts", ORDER);
  run(".bin/tsx", "tasks/write-generated.ts");
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

function insert(path: string, [before, text]: readonly [before: string, text: string]): void {
  const old = readFileSync(join(copy, path), "utf8");
  const at = old.indexOf(before);
  if (at < 0) throw new Error(`${path} has no \`${before}\``);
  writeFileSync(join(copy, path), old.slice(0, at) + text + old.slice(at));
}

function run(program: string, ...args: readonly string[]): string {
  const path = join(copy, "node_modules", program);
  return execFileSync(path, args, { cwd: copy, encoding: "utf8", stdio: "pipe" });
}

function callgate(...args: readonly string[]): string {
  return run(".bin/tsx", "services/cli/main.ts", ...args);
}

test("a new check needs five files", () => {
  expect(Object.keys(FILES)).toHaveLength(5);
});

test("a new check uses no word that the repository bans", () => {
  const uses = Object.entries(FILES).flatMap(([path, written]) =>
    findWordUses(path, typeof written === "string" ? written : written[1]),
  );
  expect(uses).toEqual([]);
});

test("a new check needs nothing else to compile", () => {
  expect(run(TSC, "--singleThreaded", "--noEmit", "-p", "tsconfig.json")).toBe("");
});

test("a new check needs nothing else for the tests of reasons, keys, rows and documents", () => {
  // One worker loads each module once.
  const vitest = [".bin/vitest", "run", "--maxWorkers=1"] as const;
  const files = [
    "test/unit/core/reasons",
    "test/unit/core/policy/compile-modes.test.ts",
    "test/unit/cli/explain",
    "test/unit/generated-files.test.ts",
    "test/conformance/policy",
  ];
  expect(run(...vitest, ...files)).toContain("passed");
  // The rows of keys and reasons of the new check, and that none is missing.
  const own = "agent|every policy key has a row|each reason has a case";
  const rows = run(...vitest, "--reporter=verbose", "test/conformance/keys", "-t", own);
  expect(rows).toContain("agent_not_listed");
});

test("a new check appears in author commands, the published list and the metrics", () => {
  const policy = join(copy, "p.yaml");
  writeFileSync(policy, "agents: [a]\ntool_schemas: { t: {} }\n");
  const call = JSON.stringify({ tool: "t", args: {} });
  const explained = JSON.parse(
    callgate("policy", "explain", "--policy", policy, "--call", call, "--json"),
  );
  expect(explained).toMatchObject({ outcome: "refused", reason: "agent_not_listed" });
  expect(explained.message).toContain("you are not on the list");
  expect(explained.checks).toContainEqual(
    expect.objectContaining({ check: "listed agents", result: "decides", rule: "agents" }),
  );
  writeFileSync(
    join(copy, "p.test.yaml"),
    "cases:\n  - name: c\n    calls:\n      - { tool: t, expect: agent_not_listed }\n",
  );
  const tested = JSON.parse(callgate("policy", "test", "--policy", policy, "--json"));
  expect(tested).toMatchObject({ ok: true, rules: 2, unreached: [] });
  const published = readFileSync(join(copy, "schemas/reasons.json"), "utf8");
  expect(JSON.parse(published).reasons).toContainEqual(
    expect.objectContaining({ code: "agent_not_listed", group: "permission", striking: false }),
  );
  expect(readFileSync(join(copy, "docs/policy-reference.md"), "utf8")).toContain("`agents`");
});
