// Whatever is proposed, and whatever becomes of it: the value of a sensitive field is in clear
// where the platform wrote it (`proposals`) and where the executor reads it (`allowed`), and
// nowhere else.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { Environment } from "../../../services/adapters/lmdb/environment.ts";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { composeCallgate } from "../../../services/client/compose-callgate.ts";
import { GateClient } from "../../../services/client/gate-client.ts";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { linkToEmbedded } from "../../../services/library/embedded-link.ts";
import { openEmbedded } from "../../../services/library/open-embedded.ts";
import { openLog } from "../../../services/process/directory/open-log.ts";
import { TOPICS } from "../../../services/runtime/topics.ts";
import { runInProcess } from "../../support/memory-terminal.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";

/** No part of any digest, id or number that a gate makes. */
const SECRET = "9876-5432-10-SECRET-zyx";
const MAY_HOLD_IT: readonly string[] = ["proposals", "allowed"];

const POLICY = {
  checks: { near_duplicate: "enforce", invalid_arguments: "enforce" },
  limits: { arguments_bytes: 1_024 },
  authorization: {
    tiers: [
      { name: "asks", pattern: "hold_*", action: "hitl", expires_ms: 60_000 },
      { name: "denied", pattern: "deny_*", action: "deny" },
    ],
  },
  tool_schemas: {
    pay: {
      sensitive: ["card", "who.id"],
      effects: [{ resource: "card/{card}/of/{who.id}", kind: "charge", exclusive: false }],
      similarity: [{ field: "card", threshold: 0.5 }],
      input_schema: {
        type: "object",
        properties: { card: { type: ["string", "object"], additionalProperties: false } },
      },
    },
    once: { sensitive: ["card", "who"], canonical_fields: ["card"], side_effect_resource: "card" },
    look: { sensitive: ["who", "card"], read_only: true, reads: ["card/{card}"] },
    hold_it: { sensitive: ["card", "who"], normalizers: { card: "strip_punctuation" } },
    deny_it: { sensitive: ["card", "who"] },
  },
};

const card = fc.constantFrom<unknown>(
  SECRET,
  `${SECRET}é`,
  { [SECRET]: 1 },
  { number: SECRET },
  [SECRET],
  [{ n: SECRET }],
);
/** Values in a position that expects an object with an `id`. */
const misplaced = fc.constantFrom<unknown>(SECRET, [SECRET], [{ id: SECRET }]);
const args = fc.oneof(
  fc.record({ card, who: fc.record({ id: card }), n: fc.nat(2) }, { requiredKeys: [] }),
  fc.record({ card, "who.id": card, who: misplaced }, { requiredKeys: [] }),
  fc.constantFrom(
    `{"card":"${SECRET}"`,
    `{"card":"${SECRET}","card":1}`,
    `{"card":"1","n":{"${SECRET}":1,"${SECRET}":1}}`,
    `{"card":"${SECRET}","n":1e999}`,
    JSON.stringify([SECRET]),
    JSON.stringify({ card: SECRET.repeat(100) }),
    `"${SECRET}"`,
  ),
);
const proposal = fc.record({
  kind: fc.constant("propose" as const),
  tool: fc.constantFrom(...Object.keys(POLICY.tool_schemas)),
  args,
  callId: fc.constantFrom("a", "b", "c", "d"),
  says: fc.constantFrom(undefined, `I pay with ${SECRET}.`),
});
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: proposal },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom("approve" as const, "deny" as const) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("report" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
  ),
  { minLength: 5, maxLength: 14 },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer S)[]> ? S : never;

class Run {
  readonly directory = makeDirectory();
  readonly logged: string[] = [];
  readonly shown: string[] = [];
  #gate: Callgate | undefined;
  #hold: string | undefined;
  #open: string[] = [];

  async step(step: Step): Promise<void> {
    const gate = await this.#opened();
    if (step.kind === "reopen") await this.close();
    else if (step.kind === "propose") await this.#propose(gate, step);
    else if (step.kind === "report") await this.#report(gate);
    else await this.#rule(gate, step.kind);
  }

  async close(): Promise<void> {
    await this.#gate?.close();
    this.#gate = undefined;
  }

  async #opened(): Promise<Callgate> {
    if (this.#gate !== undefined) return this.#gate;
    const note = (...said: unknown[]): void => void this.logged.push(JSON.stringify(said));
    const embedded = await openEmbedded({
      policy: { document: POLICY },
      dataDir: this.directory,
      logger: { debug: note, info: note, warn: note, error: note },
    });
    const link = linkToEmbedded(embedded);
    const client = new GateClient(link, { timeoutMs: 30_000, onLost: undefined });
    this.#gate = composeCallgate(link, client);
    return this.#gate;
  }

  async #propose(gate: Callgate, step: Extract<Step, { kind: "propose" }>): Promise<void> {
    const { tool, args: clearArguments, callId, says } = step;
    const call = { conversationId: "c", callId, tool, arguments: clearArguments as object };
    const decision = await gate.propose({ ...call, assistantText: says });
    if (decision.outcome === "held") this.#hold = decision.approvalId;
    if (decision.outcome === "allowed") {
      this.#open.push(decision.decisionId ?? "");
      expect(decision.arguments).toEqual(clearArguments);
    } else {
      this.shown.push(JSON.stringify(decision));
    }
  }

  async #rule(gate: Callgate, kind: "approve" | "deny"): Promise<void> {
    const hold = this.#hold;
    if (hold === undefined) return;
    this.#hold = undefined;
    const decision = await gate[kind](hold, { by: "boss" });
    if (decision.outcome !== "allowed") this.shown.push(JSON.stringify(decision));
    else expect(JSON.stringify(decision.arguments)).toMatch(/SECRET|^\{("n":\d)?\}$|"who"|null/);
  }

  async #report(gate: Callgate): Promise<void> {
    const decisionId = this.#open.shift();
    if (decisionId === undefined) return;
    this.shown.push(
      JSON.stringify(await gate.report(decisionId, { status: "succeeded", output: 1 })),
    );
  }
}

/** Every value and key of the store, except the topics that may contain it. */
function stored(dataDir: string): readonly string[] {
  const environment = new Environment({ dataDir, newId: () => "unused" });
  const entries: string[] = [];
  for (const [name, table] of Object.entries(environment.tables)) {
    for (const { key, value } of table.getRange()) {
      const topic = TOPICS[(key[0] ?? 0) - 1] ?? "";
      if (name === "chunks" && MAY_HOLD_IT.includes(topic)) continue;
      entries.push(`${name} ${topic} ${key.toString("latin1")} ${value.toString("latin1")}`);
    }
  }
  void environment.close();
  return entries;
}

/** The arguments in the topic of allowed calls. */
async function executorsRead(dataDir: string): Promise<readonly string[]> {
  const { log, codec, close } = openLog(dataDir);
  const { records } = await log.read("allowed", 0, 0, { recordsMax: 10, bytesMax: 100_000 });
  const allowedCalls = records.map(({ value }) => codec.decodeAllowed(value ?? new Uint8Array()));
  await close();
  return allowedCalls.map(({ arguments: { text } }) => text);
}

function leaks(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text.includes(SECRET) || text.includes("SECRET"));
}

test("no run writes, logs, or prints the value of a sensitive argument", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const run = new Run();
      for (const step of all) await run.step(step);
      await run.close();
      expect(leaks(run.logged)).toEqual([]);
      expect(leaks(run.shown)).toEqual([]);
      expect(leaks(stored(run.directory))).toEqual([]);
    }),
    { numRuns: 15 },
  );
});

describe("a held call", () => {
  const hold = { tool: "hold_it", arguments: { card: SECRET, n: 1 }, conversationId: "c" };

  test("is allowed in clear by another process, and no command shows it before or after", async () => {
    const dataDir = makeDirectory();
    const first = await openCallgate({ policy: POLICY, dataDir });
    const held = await first.propose({ ...hold, callId: "one" });
    expect(JSON.stringify(held)).not.toContain(SECRET);
    await first.close();
    const data = ["--data-dir", dataDir];
    const approvalId = held.approvalId ?? "";
    const texts = [
      await runInProcess(["approvals", "list", ...data]),
      await runInProcess(["approvals", "show", approvalId, ...data]),
    ];
    const second = await openCallgate({ policy: POLICY, dataDir });
    const allowed = await second.approve(approvalId, { by: "boss" });
    expect(allowed).toMatchObject({ outcome: "allowed", arguments: hold.arguments });
    expect(allowed.idempotencyKey).toBeDefined();
    await second.close();
    const third = await openCallgate({ policy: POLICY, dataDir });
    expect(await third.awaitDecision(allowed.decisionId ?? "")).toMatchObject({
      arguments: hold.arguments,
    });
    const again = await third.propose({ ...hold, callId: "one" });
    expect(again).toMatchObject({ outcome: "allowed", repeated: true, arguments: hold.arguments });
    await third.close();
    for (const json of [[], ["--json"]]) {
      texts.push(await runInProcess(["tail", "--once", ...json, ...data]));
      texts.push(await runInProcess(["explain", allowed.decisionId ?? "", ...json, ...data]));
    }
    for (const { code, stdout, stderr } of texts) {
      expect(code).toBe(0);
      expect(stdout).toMatch(/sealed:[0-9a-zA-Z_-]+:/);
      expect(stdout + stderr).not.toContain(SECRET);
    }
    expect(leaks(stored(dataDir))).toEqual([]);
    expect(await executorsRead(dataDir)).toEqual([JSON.stringify(hold.arguments)]);
  });

  test("cannot run without its secret", async () => {
    const dataDir = makeDirectory();
    const secret = "the secret that it was sealed with";
    const first = await openCallgate({ policy: POLICY, dataDir, secret });
    const held = await first.propose({ ...hold, callId: "one" });
    await first.close();
    const other = openCallgate({ policy: POLICY, dataDir, secret: `another, not ${secret}` });
    await expect(other).rejects.toMatchObject({ code: "secret_unreadable" });
    const back = await openCallgate({ policy: POLICY, dataDir, secret });
    expect(await back.approve(held.approvalId ?? "", { by: "boss" })).toMatchObject({
      arguments: hold.arguments,
    });
    await back.close();
  });
});

describe("a program that runs its own tools", () => {
  test("gets the clear value, at once and after a person has agreed", async () => {
    const gate = await openGate({ policy: POLICY });
    const seen: unknown[] = [];
    const run = (input: object): string => {
      seen.push(input);
      return "done";
    };
    const context = { conversationId: "c", onHeld: "wait" as const };
    const tools = gate.guard({ pay: run, hold_it: run }, context);
    const args = { card: SECRET, who: { id: "7" } };
    expect(await tools.pay(args)).toBe("done");
    const waiting = tools.hold_it(args, { callId: "held" });
    const held = await gate.propose({
      conversationId: "c",
      callId: "held",
      tool: "hold_it",
      arguments: args,
    });
    await gate.approve(held.approvalId ?? "", { by: "boss" });
    expect(await waiting).toBe("done");
    expect(seen).toEqual([args, args]);
  });
});

describe("a command for authors", () => {
  const directory = mkdtempSync(join(tmpdir(), "callgate-authors-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const path = (name: string): string => join(directory, name);

  test.each<readonly [string, number, string[]]>([
    ["policy test", 1, ["policy", "test"]],
    ["policy test --json", 1, ["policy", "test", "--json"]],
    ["policy explain", 0, ["policy", "explain", "--conversation", path("rec.jsonl")]],
    ["replay", 0, ["replay", path("rec.jsonl")]],
    ["replay --format jsonl", 0, ["replay", path("rec.jsonl"), "--format", "jsonl"]],
  ])("prints no value: %s", async (_what, code, command) => {
    writeFileSync(path("p.yaml"), JSON.stringify(POLICY));
    const calls = [
      { tool: "once", args: { card: SECRET } },
      { tool: "once", args: { card: SECRET } },
    ];
    const expected = calls.map((call) => ({ ...call, expect: "held" }));
    writeFileSync(path("p.test.yaml"), JSON.stringify({ cases: [{ name: "x", calls: expected }] }));
    writeFileSync(path("rec.jsonl"), `${JSON.stringify({ id: "a", calls })}\n`);
    const run = await runInProcess([...command, "-p", path("p.yaml")]);
    expect(run.code).toBe(code);
    expect(run.stdout.length).toBeGreaterThan(20);
    expect(run.stdout + run.stderr).not.toContain(SECRET);
  });
});

test("the policy of these tests is valid as a file", () => {
  expect(loadPolicy(POLICY)).toMatchObject({ ok: true });
});
