import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { openCallgate } from "../../../services/library/callgate.ts";
import { openDiskLog } from "../../../services/process/directory/open-storage.ts";
import { SHOP_POLICY } from "../../support/open-gate.ts";
import { startProcess } from "../../support/processes/running-process.ts";
import { endOf, runCallgate, startCallgate } from "../../support/run-callgate.ts";

let dataDir = "";
let refusedId = "";

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-test-"));
  const log = openDiskLog(dataDir, systemClock);
  const value = Buffer.from('{"broken');
  await log.append([{ topic: "proposals", partition: 0, key: "default/c", value }]);
  await log.close();
  const gate = await openCallgate({ policy: SHOP_POLICY, dataDir });
  const propose = (conversationId: string, callId: string, tool: string) =>
    gate.propose({ conversationId, callId, tool, arguments: { order: 7 } });
  const charge = await propose("c", "1", "charge_card");
  await gate.report(charge.decisionId ?? "", { status: "succeeded", output: "charged" });
  refusedId = (await propose("c", "2", "charge_card")).decisionId ?? "";
  await propose("other", "1", "delete_order");
  await gate.close();
});

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function json(...args: string[]): Promise<{ readonly [key: string]: unknown }[]> {
  const { stdout, code, stderr } = await runCallgate([...args, "--data-dir", dataDir, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("callgate tail", () => {
  it("prints existing decisions, filtered", async () => {
    const all = await json("tail", "--once");
    const refused = await json("tail", "--once", "--reason", "duplicate_call");
    const held = await json("tail", "--once", "--outcome", "held", "--conversation", "other");
    const none = await json("tail", "--once", "--tool", "charge_card", "--conversation", "other");

    expect(all.map(({ type }) => type)).toEqual(["allowed", "refused", "held"]);
    expect(refused).toMatchObject([{ decisionId: refusedId, call: { tool: "charge_card" } }]);
    expect(held).toMatchObject([{ call: { tool: "delete_order" } }]);
    expect(none).toEqual([]);
  });

  it("waits for more until it is stopped", async () => {
    const child = startCallgate(["tail", "--data-dir", dataDir, "--json", "--from-beginning"]);
    const end = endOf(child);
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.kill("SIGTERM");

    expect(await end).toMatchObject({ code: 0, signal: null });
  });
});

describe("callgate explain", () => {
  it("shows the check, the earlier call and the line of the policy", async () => {
    const run = await runCallgate(["explain", refusedId.slice(0, 10), "--data-dir", dataDir]);

    expect(run.stdout).toContain("duplicate_call: ");
    expect(run.stdout).toMatch(/earlier call +charge_card, call 1 at .*, succeeded/);
    expect(run.stdout).toContain("give the policy with --policy to see the line");
    expect(run.code).toBe(0);
  });

  it("shows the result of an allowed call, or that there is none yet", async () => {
    const [charge, , held] = await json("tail", "--once");
    const charged = await runCallgate([
      ...["explain", String(charge?.["decisionId"]), "--data-dir", dataDir],
    ]);
    const [asJson] = await json("explain", String(charge?.["decisionId"]));
    const [waiting] = await json("explain", String(held?.["decisionId"]));

    expect(charged.stdout).toMatch(/^result +succeeded at \S+Z$/m);
    expect(asJson).toMatchObject({ result: { status: "succeeded", error: null } });
    expect(waiting).toMatchObject({ result: null });
  });

  it("refuses an id without a decision", async () => {
    const run = await runCallgate(["explain", "0".repeat(32), "--data-dir", dataDir]);

    expect(run.stderr).toContain("no decision in the journal has this id");
    expect(run.code).toBe(2);
  });
});

describe("callgate explain of a call that used a grant", () => {
  let granted = "";
  let bought = "";
  const directory = mkdtempSync(join(tmpdir(), "callgate-test-"));

  beforeAll(async () => {
    const tiers = [
      { name: "care", pattern: "delete_*", action: "hitl", expires_ms: 900_000 },
      {
        ...{ name: "few", pattern: "buy_*", action: "per_conversation_grant" },
        ...{ ceiling: 2, ttl_ms: 3_600_000 },
      },
    ] as const;
    const gate = await openCallgate({
      policy: { authorization: { tiers } },
      dataDir: directory,
    });
    const propose = (callId: string, tool: string) =>
      gate.propose({ conversationId: "g", callId, tool, arguments: { n: callId } });
    const held = await propose("1", "delete_order");
    if (held.outcome !== "held") throw new Error(`it is ${held.outcome}`);
    const further = { calls: 2 };
    await gate.approve(held.approvalId, { by: "ann", reason: "these three", further });
    granted = (await propose("2", "delete_order")).decisionId ?? "";
    bought = (await propose("3", "buy_bread")).decisionId ?? "";
    await gate.close();
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it("shows who granted it, when and why", async () => {
    const run = await runCallgate(["explain", granted, "--data-dir", directory]);
    expect(run.stdout).toMatch(/^outcome +allowed$/m);
    expect(run.stdout).toMatch(
      /^granted by +ann, by a grant of tool `delete_order`, rule `care` at \S+Z: these three$/m,
    );
  });

  it("shows the policy's tier", async () => {
    const run = await runCallgate(["explain", bought, "--data-dir", directory, "--json"]);
    expect(JSON.parse(run.stdout)).toMatchObject({
      grantedBy: expect.stringMatching(/^the policy, tier `few`, until \S+Z$/),
    });
  });
});

describe("callgate dlq", () => {
  it("lists, shows and replays inputs that could not be decided", async () => {
    const [list] = await json("dlq", "list");
    const letters = list?.["deadLetters"] as { letter: string }[];
    const name = letters[0]?.letter ?? "";
    const [shown] = await json("dlq", "show", name);
    const [dry] = await json("dlq", "replay", name, "--dry-run");

    expect(letters).toHaveLength(1);
    expect(shown).toMatchObject({ code: "undecodable", key: "default/c" });
    expect(Buffer.from(String(shown?.["valueBase64"]), "base64").toString()).toBe('{"broken');
    expect(dry).toEqual({ dryRun: true, replayed: [name], withoutValue: [] });
  });

  it("requires the ids of letters, or --all", async () => {
    const run = await runCallgate(["dlq", "replay", "--data-dir", dataDir]);

    expect(run.code).toBe(2);
    expect(run.stderr).toContain("--all");
  });
});

describe("a gate's log in .callgate", () => {
  it("is what commands read without other options", async () => {
    const home = mkdtempSync(join(tmpdir(), "callgate-test-"));
    symlinkSync(dataDir, join(home, ".callgate"));
    const inside = (...args: string[]) => runCallgate(args, { cwd: home });
    try {
      expect((await inside("verify")).code).toBe(0);
      expect((await inside("explain", refusedId)).stdout).toContain(refusedId);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe("callgate verify", () => {
  it("finds no problem in a valid journal", async () => {
    const [report] = await json("verify");

    expect(report).toMatchObject({ ok: true, partitions: [{ records: 5, problems: [] }] });
  });

  it("reports a directory without a log", async () => {
    const run = await runCallgate(["verify", "--data-dir", join(dataDir, "nowhere")]);

    expect(run.code).toBe(3);
    expect(run.stderr).toContain("holds no log of a gate");
  });
});

type Readiness = { readonly partitions: readonly { readonly nextOffset: number }[] };

async function journalEnd(): Promise<number> {
  const log = openDiskLog(dataDir, systemClock);
  const end = await log.endOffset("decisions", 0);
  await log.close();
  return end;
}

describe("callgate analytics", () => {
  it.each([
    ["that is a file", "log.mdb", "EEXIST"],
    ["below a file", join("log.mdb", "numbers"), "ENOTDIR"],
  ])("reports the key of a directory %s, and why it cannot be used", async (_, name, why) => {
    const directory = join(dataDir, name);
    const config = { http: { port: 0 }, analytics: { directory } };
    const running = startProcess(["analytics", "--data-dir", dataDir], config);
    expect(await running.ended).toEqual({ code: 3, signal: null });
    expect(running.stderr).toContain(
      `callgate: analytics.directory: \`${directory}\` cannot be used: ${why}`,
    );
    expect(running.stderr).toContain("(CALLGATE_ANALYTICS_DIRECTORY)");
    expect(running.stderr).not.toContain("unexpected");
  });

  it("follows a log, and answers SQL and a report over it", async () => {
    const directory = join(dataDir, "analytics");
    const config = { http: { port: 0 }, analytics: { directory } };
    const running = startProcess(["analytics", "--data-dir", dataDir], config);
    await running.line("started");
    const has = async () =>
      (await runCallgate(["analytics", "query", "--dir", directory, "select 1"])).code === 0;
    expect(await has()).toBe(true);
    const end = await journalEnd();
    const hasRead = async () => {
      const { partitions } = (await (await running.get("/readyz")).json()) as Readiness;
      return partitions.length > 0 && partitions.every(({ nextOffset }) => nextOffset >= end);
    };
    await expect.poll(hasRead).toBe(true);
    // The analytics write what they have read when they end.
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(0);

    const sql = "select kind, tool from decisions where kind <> 'dead_letter' order by seq";
    const query = await runCallgate(["analytics", "query", sql, "--dir", directory, "--json"]);
    const env = { CALLGATE_ANALYTICS_DIRECTORY: directory };
    const report = await runCallgate(["analytics", "report"], { env });
    const times = "timestamptz '2026-01-02 03:04:05' as at from decisions";
    const recent = `select distinct ${times} where decided_at > now() - interval 1 hour`;
    const inTokyo = await runCallgate(["analytics", "query", recent, "--format", "csv"], {
      env: { ...env, TZ: "Asia/Tokyo" },
    });
    const wrong = await runCallgate(["analytics", "query", "selec", "--dir", directory]);

    expect(JSON.parse(query.stdout)).toEqual([
      { kind: "allowed", tool: "charge_card" },
      { kind: "result", tool: "charge_card" },
      { kind: "refused", tool: "charge_card" },
      { kind: "held", tool: "delete_order" },
    ]);
    expect(inTokyo.stdout).toBe("at\r\n2026-01-02 03:04:05+00\r\n");
    expect(report.stdout).toMatch(/charge_card +2 +1 +0 +50 +duplicate_call/);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("syntax error");
  });
});
