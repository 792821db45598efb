// `callgate policy test`, and the cases of our own templates.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const TEMPLATES = join(ROOT, "infra/policies/templates");

const POLICY = `policy_engine:
  budgets: { max_tool_calls: 2 }
  authorization:
    tiers:
      - { name: gone, pattern: "delete_*", action: hitl, require_reason: true, expires_ms: 60000 }
      - { name: counted, pattern: "count_*", action: per_conversation_grant, ceiling: 1 }
  tool_schemas:
    pay:
      effects: [{ resource: "order/{order}", kind: charge }]
    charge: { effects: [{ resource: "order/{order}", kind: charge }] }
    read: { read_only: true, frequency: 1/min, volatile: true }
`;

let directory = "";
let policy = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-cases-"));
  policy = file("own.yaml", POLICY);
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const run = (...args: string[]) => runInProcess(["policy", "test", ...args]);

async function report(text: string, ...more: string[]) {
  const path = file("cases.yaml", text);
  const { code, stdout, stderr } = await run(path, "-p", policy, "--json", ...more);
  expect(stderr).toBe("");
  return { code, ...JSON.parse(stdout) };
}

const COMMANDS = `authorization: { tiers: [{ name: ask, pattern: "none_*", action: hitl }] }
tool_schemas:
  bash:
    commands:
      rules:
        - { run: git push, tier: ask }
        - { run: git fetch, risk_level: LOW }
        - { run: npm publish, tier: ask }
`;

test("counts a rule of `commands` as reached by a matching line, even if another rule decides", async () => {
  const own = file("bash.yaml", COMMANDS);
  const line = "git fetch origin && git push origin main";
  const cases = file(
    "bash-cases.yaml",
    `cases: [{ name: c, calls: [{ tool: bash, args: { command: "${line}" }, expect: held }] }]\n`,
  );
  const { stdout } = await run(cases, "-p", own, "--json");
  expect(JSON.parse(stdout).unreached.map(({ rule }: { rule: string }) => rule)).toEqual([
    "tool_schemas.bash.commands.rules[2]",
  ]);
});

describe("callgate policy test", () => {
  test("finds the cases beside the policy and shows each outcome", async () => {
    file(
      "own.test.yaml",
      "cases:\n  - { name: paid once, calls: [{ tool: pay, args: { order: 1 } }] }\n",
    );
    const { code, stdout } = await run("-p", policy);

    expect(code).toBe(0);
    expect(stdout).toContain("own.test.yaml:2:5  paid once");
    expect(stdout).toContain("1 case, 0 failed");
    expect(stdout).toContain("own.yaml:5:9  authorization.tiers[0]");
  });

  test("exits 1 for a failed case and shows the call, the decision and the expectation", async () => {
    const path = file(
      "wrong.yaml",
      "cases:\n  - name: never twice\n    calls:\n      - { tool: pay, args: { order: 1 }, result: 1 }\n      - { tool: pay, args: { order: 1 } }\n",
    );
    const { code, stdout } = await run(path, "-p", policy);

    expect(code).toBe(1);
    expect(stdout).toContain(
      `${path}:5:9: call 2 pay: outcome is refused (duplicate_call), expected allowed`,
    );
  });

  test("compares outcome, reason, level, answer and warnings", async () => {
    const { code, cases } = await report(`cases:
  - name: all wrong
    calls:
      - { tool: pay, args: { order: 1 }, result: 1, expect: { warnings: [loop_rotation] } }
      - tool: charge
        args: { order: 1 }
        expect: { reason: duplicate_call, level: 3, answered: true, shadow: [killed] }
`);
    expect(code).toBe(1);
    expect(
      cases[0].failures.map(
        (one: { call: number; what: string; expected: string; actual: string }) => [
          one.call,
          one.what,
          one.expected,
          one.actual,
        ],
      ),
    ).toEqual([
      [1, "warnings", "loop_rotation", "none"],
      [2, "reason", "duplicate_call", "side_effect_conflict"],
      [2, "shadow", "killed", "none"],
      [2, "level", "3", "1"],
      [2, "answered", "true", "false"],
    ]);
  });

  test("applies verdicts, time, steps, turns, failures and missing results", async () => {
    const { code, cases } = await report(`cases:
  - name: held until a person says so
    calls:
      - { tool: delete_a, expect: held, verdict: { kind: approve, by: ana }, finally: held }
      - { tool: delete_a, after: 5s, expect: duplicate_in_flight }
      - { tool: delete_a, after: 2min, expect: held, verdict: deny, finally: approval_denied }
  - name: the window of a rate passes, and a turn renews the budget
    calls:
      - { tool: read, turn: 1 }
      - { tool: read, expect: tool_frequency }
      - { tool: read, after: 1min }
      - { tool: count_a, expect: budget_calls }
      - { tool: count_a, turn: 2 }
      - { tool: count_b, expect: grant_exceeded }
  - name: calls of one step do not see each other's results
    calls:
      - { tool: pay, args: { order: 1 }, step: 1 }
      - { tool: pay, args: { order: 1 }, step: 1, expect: duplicate_in_flight }
  - name: without a result the outcome is unknown one day
    calls:
      - { tool: pay, args: { order: 1 }, status: none }
      - { tool: pay, args: { order: 1 }, after: 10min, expect: outcome_unknown }
  - name: what failed may be tried again
    calls:
      - { tool: pay, args: { order: 1 }, error: { message: no such card, code: 404 } }
      - { tool: pay, args: { order: 1 }, status: not_executed }
`);
    expect(cases.flatMap(({ failures }: { failures: unknown[] }) => failures)).toEqual([]);
    expect(code).toBe(0);
  });

  test("plays several approvers, wanted reasons, expiry and what comes of each answer", async () => {
    const quorum = file(
      "quorum.yaml",
      `authorization:
  default: ask
  tiers:
    - { name: two, pattern: "wipe_*", action: hitl, approvals: 2, require_reason: true, expires_ms: 3600000 }
tool_schemas: { wipe_disk: {}, wipe_tape: {} }
`,
    );
    const cases = file(
      "quorum-cases.yaml",
      `cases:
  - name: two people approve with a reason
    calls:
      - tool: wipe_disk
        agent: bot
        expect: held
        verdict:
          - { kind: approve, by: ann, expect: reason_required }
          - { kind: approve, by: bot, reason: please, expect: self_approval }
          - { kind: approve, by: ann, reason: it is old, expect: waits }
          - { kind: approve, by: ann, reason: it is old, expect: already_decided }
          - { kind: approve, by: bob, reason: it is, after: 30min, expect: allowed }
        finally: allowed
  - name: one approval is not enough in an hour
    calls:
      - tool: wipe_disk
        expect: held
        verdict:
          - { kind: approve, by: ann, reason: it is old, expect: waits }
          - { kind: wait, after: 2h, expect: approval_expired }
        finally: approval_expired
  - name: one person denies it
    calls:
      - tool: wipe_tape
        expect: held
        verdict:
          - { kind: approve, by: ann, reason: it is old }
          - { kind: deny, by: bob, reason: no, expect: refused }
        finally: approval_denied
`,
    );
    const { stdout, code } = await run(cases, "-p", quorum, "--json");
    const report = JSON.parse(stdout);
    expect(report.cases.flatMap(({ failures }: { failures: unknown[] }) => failures)).toEqual([]);
    expect(code).toBe(0);
    const wrong = file(
      "quorum-wrong.yaml",
      "cases: [{ name: a, calls: [{ tool: wipe_disk, expect: held, verdict: [{ kind: approve, by: ann, reason: x, expect: allowed }] }] }]\n",
    );
    expect((await run(wrong, "-p", quorum)).stdout).toContain(
      "call 1 wipe_disk: answer 1 is waits, expected allowed",
    );
  });

  test("settles unknown outcomes", async () => {
    const { code, cases } = await report(`cases:
  - name: a call of unknown outcome is settled
    calls:
      - { tool: pay, args: { order: 1 }, status: unknown }
      - { tool: pay, args: { order: 1 }, expect: outcome_unknown }
      - { tool: pay, args: { order: 1 }, reconcile: { call: 1, outcome: not_executed, by: ann } }
  - name: a call that ended is not settled again
    calls:
      - { tool: pay, args: { order: 1 } }
      - { tool: charge, args: { order: 2 }, reconcile: [{ call: 1, outcome: failed }] }
`);
    expect(code).toBe(1);
    const [settled, ended] = cases;
    expect(settled.failures).toEqual([]);
    expect(ended.failures).toMatchObject([
      { call: 2, what: "reconcile", actual: "unknown_call", number: 1 },
    ]);
  });

  test("counts conditions of tiers and variants, and the default, as rules", async () => {
    const own = file(
      "when.yaml",
      `budgets: { by_name: { fees: { tools: pay, amount: fee, max_spend: { amount: "9", currency: EUR } } } }
authorization:
  default: deny
  tiers:
    - { name: small, pattern: pay, action: allowlist, when: { amount: { at_most: 5 } } }
    - { name: all, pattern: pay, action: hitl, expires_ms: 1000, when: { spent: { budget: fees, at_most: 3 EUR } } }
tool_schemas:
  pay:
    read_only: false
  send:
    variants:
      rules: [{ when: { to: { domain: example.com } }, tier: allow }, { when: { to: { domain: example.org } }, tier: hitl }]
      otherwise: { tier: deny }
  drop: {}
`,
    );
    const run1 = (text: string) => run(file("when-cases.yaml", text), "-p", own, "--json");
    const rulesOf = async (text: string) => {
      const report = JSON.parse((await run1(text)).stdout);
      const failures = report.cases.flatMap((one: { failures: unknown[] }) => one.failures);
      expect(failures).toEqual([]);
      return report.unreached.map(({ rule }: { rule: string }) => rule);
    };
    const send = (to: string, more = "") => `{ tool: send, args: { to: ${to} } ${more} }`;
    const some = `cases: [{ name: a, calls: [${send("ann@example.com")}] }]`;
    expect(await rulesOf(some)).toEqual([
      "budgets.by_name.fees.max_spend",
      "authorization.default",
      "authorization.tiers[0]",
      "authorization.tiers[1]",
      "tool_schemas.pay",
      "tool_schemas.send.variants.rules[1]",
      "tool_schemas.send.variants.otherwise",
      "tool_schemas.drop",
    ]);
    const pay = (amount: number, fee: string) =>
      `{ tool: pay, args: { amount: ${amount}, fee: ${fee} EUR }, expect: `;
    expect(
      await rulesOf(`cases:
  - name: mail
    calls:
      - ${send("ann@example.com")}
      - ${send("ann@example.org", ", expect: held")}
      - ${send("ann@example.net", ", expect: tier_denied")}
      - { tool: drop, expect: tier_denied }
  - name: pay
    calls:
      - ${pay(5, "3")} allowed }
      - ${pay(6, "0")} held }
      - ${pay(7, "1")} tier_denied }
      - ${pay(8, "7")} budget_spend }
`),
    ).toEqual([]);
  });

  test("fails once for a verdict on a call that was not held", async () => {
    const text = `cases:
  - name: nobody is asked
    calls:
      - { tool: charge, args: { order: 1 }, verdict: deny }
      - { tool: charge, args: { order: 1 }, expect: duplicate_call, verdict: approve }
      - { tool: read, expect: held, verdict: approve }
`;
    const { code, cases } = await report(text);
    expect(code).toBe(1);
    expect(
      cases[0].failures.map((one: { call: number; what: string; actual: string }) => [
        one.call,
        one.what,
        one.actual,
      ]),
    ).toEqual([
      [1, "verdict", "allowed"],
      [2, "verdict", "refused"],
      [3, "outcome", "allowed"],
    ]);
    const path = file("unheld.yaml", text);
    expect((await run(path, "-p", policy)).stdout).toContain(
      `${path}:4:9: call 1 charge: was allowed and not held, so there is nothing to approve or deny; remove \`verdict\``,
    );
  });

  test("lists the rules that no case reaches, and fails for them with --require-coverage", async () => {
    const text =
      "cases:\n  - { name: one, calls: [{ tool: read }, { tool: read, expect: tool_frequency }] }\n";
    const lax = await report(text);
    const strict = await report(text, "--require-coverage");

    expect([lax.code, strict.code]).toEqual([0, 1]);
    expect(lax.rules).toBe(10);
    expect(lax.unreached.map(({ rule }: { rule: string }) => rule)).toEqual([
      "budgets.max_tool_calls",
      "authorization.tiers[0]",
      "authorization.tiers[1]",
      "authorization.tiers[1].ceiling",
      "tool_schemas.pay",
      "tool_schemas.pay.effects[0]",
      "tool_schemas.charge",
      "tool_schemas.charge.effects[0]",
    ]);
  });

  test.each([
    ["- a\n", "cases.yaml:1:1: a file of cases is a map"],
    ["case: []\n", "cases.yaml:1:1: cases: is missing"],
    ["cases: [{ name: a, calls: [{ tol: x }] }]", "`tol` is not a key here; did you mean `tool`?"],
    [
      "cases:\n  - { name: a, calls: [{ tool: x, expect: duplicat_call }] }\n",
      "cases.yaml:2:43: cases[0].calls[0].expect: must be an outcome or a reason, not `duplicat_call`; did you mean `duplicate_call`?",
    ],
    [
      "cases: [{ name: a, calls: [{ tool: x, expect: { outcome: held, reason: killed } }] }]",
      "`killed` comes with `refused`",
    ],
    ["cases: [{ name: a, calls: [{ tool: x, result: 1, error: no }] }]", "a call has one outcome"],
    ["cases: [{ name: a, calls: [{ tool: x, finally: held }] }]", "needs a verdict"],
    [
      "cases: [{ name: a, calls: [{ tool: x, reconcile: { call: 1, outcome: failed } }] }]",
      "call 1 does not come before this one, which is call 1; name an earlier call",
    ],
    [
      "cases: [{ name: a, calls: [{ tool: x, reconcile: { cal: 1, outcome: failed } }] }]",
      "did you mean `call`?",
    ],
    [
      "cases: [{ name: a, calls: [{ tool: x, verdict: [{ kind: approve, b: c }] }] }]",
      "`b` is not a key here",
    ],
    [
      "cases: [{ name: a, calls: [{ tool: x, verdict: [{ kind: approve, expect: wait }] }] }]",
      "must be what comes of an answer, not `wait`; did you mean `waits`?",
    ],
    [
      "cases: [{ name: a, calls: [{ tool: x, verdict: [{ kind: wait, after: soon }] }] }]",
      "write it as 500ms, 30s",
    ],
    ["cases: [{ name: a, calls: [{ tool: x, after: soon }] }]", "write it as 500ms, 30s"],
  ])("rejects %j with its location", async (text, message) => {
    const { code, stdout, stderr } = await run(file("cases.yaml", text), "-p", policy);

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("says where it looked if there are no cases, and shows cases that run", async () => {
    const lonely = file("lonely.yaml", "tool_schemas: { get_order: { read_only: true } }");
    const { code, stderr } = await run("-p", lonely);

    expect(code).toBe(2);
    expect(stderr).toContain("lonely.test.yaml");
    file("lonely.test.yaml", /cases: \[.*\]/.exec(stderr)?.[0] ?? "");
    expect(await run("-p", lonely)).toMatchObject({ code: 0 });
  });
});

test.each(["support-agent", "coding-agent", "payments", "mcp-server"])(
  "passes all cases of the template %s",
  async (name) => {
    const { code, stdout } = await run("-p", join(TEMPLATES, `${name}.yaml`), "--json");

    expect(
      JSON.parse(stdout).cases.flatMap(({ failures }: { failures: unknown[] }) => failures),
    ).toEqual([]);
    expect(code).toBe(0);
  },
);
