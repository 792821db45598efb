// Foreign records in the journal or among the dead letters: commands report them and read the rest.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCallgate } from "../../../services/library/callgate.ts";
import { openLog } from "../../../services/process/directory/open-log.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

const POLICY = {
  preset: "balanced",
  tool_schemas: { read_order: { read_only: true }, delete_order: {} },
  authorization: {
    tiers: [{ name: "del", pattern: "delete_*", action: "hitl", expires_ms: 900000 }],
  },
};

/** The format of a producer with a schema registry. */
const WIRE = Uint8Array.of(0, 0, 0, 0, 7, 1, 2);

let directory = "";
let dataDir = "";
let approvalId = "";
let decisionId = "";
let foreign = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "callgate-unreadable-"));
  dataDir = join(directory, "data");
  const gate = await openCallgate({ policy: { policy_engine: POLICY } as never, dataDir });
  const call = { conversationId: "a", arguments: {} };
  await gate.propose({ ...call, callId: "1", tool: "read_order" });
  const held = await gate.propose({ ...call, callId: "2", tool: "delete_order" });
  approvalId = held.approvalId ?? "";
  decisionId = held.decisionId ?? "";
  await gate.close();
  const { log, close } = openLog(dataDir);
  const value = new TextEncoder().encode("foreign");
  const of = { partition: 0, key: "default/a" };
  const [journaled] = await log.append([
    { ...of, topic: "decisions", value },
    { ...of, topic: "decisions", value: null },
    { ...of, topic: "decisions", value: WIRE },
    { ...of, topic: "deadLetters", value },
    { ...of, topic: "deadLetters", value: null },
  ]);
  foreign = journaled?.offset ?? 0;
  await close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(...args: string[]) {
  return runInProcess([...args, "--data-dir", dataDir]);
}

function times(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe("a record that cannot be read", () => {
  it("is a finding of verify with its position, beside the valid records", async () => {
    const { code, stdout } = await run("verify");
    expect(code).toBe(1);
    expect(stdout).toContain(
      `decisions, partition 0, offset ${foreign}: the journal holds a record that cannot be decoded`,
    );
    expect(stdout).toContain(`offset ${foreign + 1}: the journal has an empty record`);
    expect(stdout).toContain(
      `offset ${foreign + 2}: the journal holds a record that cannot be decoded`,
    );
    expect(stdout).toContain(`3 problems in ${foreign} records\n`);
    const json = await run("verify", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      topic: "decisions",
      partitions: [
        { records: foreign, problems: [{ partition: 0, offset: foreign, seq: null }, {}, {}] },
      ],
    });
  });

  it.each([
    ["tail", () => ["tail", "--once"], "delete_order"],
    ["explain", () => ["explain", decisionId], "delete_order"],
    ["approvals show", () => ["approvals", "show", approvalId], "delete_order"],
    ["approvals list", () => ["approvals", "list"], "delete_order"],
  ])("is reported once by %s, which shows the rest", async (_name, args, shown) => {
    const { code, stdout, stderr } = await run(...args());
    expect(code).toBe(0);
    expect(stdout).toContain(shown);
    expect(times(stderr, `decisions, partition 0, offset ${foreign}: `)).toBe(1);
    expect(times(stderr, `decisions, partition 0, offset ${foreign + 1}: `)).toBe(1);
    expect(times(stderr, `decisions, partition 0, offset ${foreign + 2}: `)).toBe(1);
  });

  it("makes the list of approvals report that it may be incomplete", async () => {
    const { stderr } = await run("approvals", "list", "--json");
    expect(times(stderr, "approvals: waiting calls may be missing")).toBe(1);
  });

  it.each(["verify", "tail --once", "approvals list"])(
    "ends %s with its position if it is in the wire format and nothing was read before it",
    async (command) => {
      const empty = join(directory, command);
      await (
        await openCallgate({ policy: { policy_engine: POLICY } as never, dataDir: empty })
      ).close();
      const { log, close } = openLog(empty);
      await log.append([{ topic: "decisions", partition: 0, key: "default/a", value: WIRE }]);
      await close();
      const { code, stderr } = await runInProcess([...command.split(" "), "--data-dir", empty]);
      expect(code).toBe(3);
      expect(stderr).toContain("set `registry.url` (partition 0, offset 0)");
    },
  );

  it("does not keep dead letters from being shown", async () => {
    const { code, stdout, stderr } = await run("dlq", "list");
    expect(code).toBe(0);
    expect(stdout).toBe("there are no dead letters\n");
    expect(times(stderr, "deadLetters, partition 0, offset ")).toBe(2);
  });
});
