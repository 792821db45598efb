// The command line on a cluster: verdicts, reads of the journal, and dead letters.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { connectKafka } from "../../support/kafka/test-cluster.ts";
import { type InProcessRun, runInProcess } from "../../support/memory-terminal.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { type ClusterKit, createClusterKit } from "../../support/processes/cluster-kit.ts";
import { runCallgate } from "../../support/run-callgate.ts";

const kafka = await kafkaBackend();

const POLICY = `
authorization:
  tiers:
    - { name: removals, pattern: "delete_*", action: hitl, require_reason: true, expires_ms: 600000 }
    - { name: twice, pattern: "wire_*", action: hitl, approvals: 2, expires_ms: 600000 }
    - { name: given, pattern: "give_*", action: per_conversation_grant, ceiling: 1, granted_by: verdict }
tool_schemas:
  pay: { sensitive: [card] }
  slow: { start_within_ms: 1, time_limit_ms: 1 }
`;

const TIMES = { timeout: 30_000, interval: 100 };

/** Runs commands with this cluster's configuration. */
function commandsOn(kit: ClusterKit) {
  const directory = makeDirectory();
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const config = file("callgate.json", JSON.stringify(kit.config));
  const run = (...args: string[]): Promise<InProcessRun> =>
    runInProcess([...args, "--config", config]);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, "--json");
    return { code, ...JSON.parse(stdout === "" ? stderr : stdout) };
  };
  return { config, file, run, json };
}

async function callsOn(kit: ClusterKit) {
  const callgate = await kit.connect();
  return async (conversationId: string, callId: string, tool: string, args: object = {}) =>
    await callgate.propose({ conversationId, callId, tool, arguments: args });
}

describe.skipIf(!kafka.available)("commands on a cluster", () => {
  test("records verdicts while no gate runs, and the next gate takes them", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 1 });
    const { config, run, json } = commandsOn(kit);
    const first = kit.startGate(POLICY);
    await first.ready();
    const propose = await callsOn(kit);
    const { approvalId = "" } = await propose("c", "1", "delete_row");
    first.child.kill("SIGTERM");
    await first.ended;

    const denied = await json("approvals", "deny", approvalId, "--by", "ana");
    expect(denied).toEqual({ code: 0, approvalId, verdict: "deny", taken: false });
    const listed = await run("approvals", "list");
    expect(listed.stdout).toMatch(new RegExp(`${approvalId}.*deny by ana`));
    const ended = await run("conversations", "end", "c");
    expect(ended.stdout).toBe(
      "c: it is recorded; no gate has processed it within 3 s; the gate of its partition will, once it runs\n",
    );

    const second = kit.startGate(POLICY);
    await second.ready();
    // As in the README, the environment alone names the cluster.
    const listing = () => runCallgate(["approvals", "list"], { env: { CALLGATE_CONFIG: config } });
    await expect
      .poll(async () => (await listing()).stdout, TIMES)
      .toBe("no call waits for a person\n");
    expect(await propose("c", "2", "pay")).toMatchObject({ outcome: "refused" });
    expect(await json("conversations", "reopen", "c")).toEqual({ code: 0, taken: true });
    expect(await propose("c", "3", "pay", { card: "1" })).toMatchObject({ outcome: "allowed" });
  });

  test("passes every verdict to the running gate, or reports why it changed nothing", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 2 });
    const { run, json } = commandsOn(kit);
    await kit.startGate(POLICY).ready();
    const propose = await callsOn(kit);
    const removal = await propose("c", "1", "delete_row", { id: 1 });
    const other = await propose("c", "2", "delete_row", { id: 2 });
    const wire = await propose("c", "3", "wire_money");
    const slow = await propose("d", "1", "slow");
    expect(await propose("d", "2", "give_gift")).toMatchObject({ outcome: "refused" });

    const id = removal.approvalId ?? "";
    const shown = await json("approvals", "show", id.slice(0, 8));
    expect(shown).toMatchObject({ code: 0, approvalId: id, arguments: { id: 1 } });
    const withoutReason = await json("approvals", "approve", id);
    expect(withoutReason.error.messages[0]).toContain(
      "the policy requires a reason; give it with --reason",
    );
    const about = ["--call", "another call", "--reason", "ok"];
    const elsewhere = await json("approvals", "approve", id, ...about);
    expect(elsewhere.error.messages[0]).toContain("the call that waits is 1, not another call");
    const said = await json("approvals", "approve", id, "--reason", "ok", "--by", "ana");
    expect(said).toMatchObject({ code: 0, taken: true, outcome: "allowed" });
    const cancelled = await run("approvals", "cancel", other.approvalId ?? "");
    expect(cancelled.stdout).toContain("delete_row: refused (approval_denied)");

    const approve = ["approvals", "approve", wire.approvalId ?? "", "--by"];
    expect((await run(...approve, "ana")).stdout).toContain("approved by 1 of 2 who must");
    expect(await json(...approve, "ana")).toMatchObject({
      ...{ code: 2, taken: false },
      ignored: "already_decided",
    });
    expect(await json(...approve, "ben")).toMatchObject({ code: 0, outcome: "allowed" });
    expect(await json("approvals", "list")).toEqual({ code: 0, approvals: [] });

    const grant = ["approvals", "grant", "d", "--tier"];
    expect(await json(...grant, "nothing")).toEqual({
      code: 2,
      taken: false,
      ignored: "unknown_grant",
    });
    expect((await run(...grant, "given")).stdout).toBe("d: granted\n");
    expect(await propose("d", "3", "give_gift")).toMatchObject({ outcome: "allowed" });
    const revoked = await json("approvals", "revoke", "d", "--tier", "given");
    expect(revoked).toEqual({ code: 0, taken: true });
    expect(await propose("d", "4", "give_gift", { n: 2 })).toMatchObject({ outcome: "refused" });

    const reconcile = ["calls", "reconcile", slow.decisionId ?? "", "--outcome", "succeeded"];
    // The outcome is unknown after the deadline.
    await expect.poll(async () => (await run(...reconcile)).code, TIMES).toBe(0);
    const nobody = await json("conversations", "end", "nobody");
    expect(nobody).toEqual({ code: 2, taken: false, ignored: "unknown_conversation" });
    const verified = await json("verify");
    expect(verified).toMatchObject({ code: 0, ok: true });
  });

  test("prints existing decisions by time, across partitions", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 3 });
    const { run } = commandsOn(kit);
    await kit.startGate(POLICY).ready();
    const propose = await callsOn(kit);
    const conversations = Array.from({ length: 18 }, (_, at) => `c${at}`);
    for (const one of conversations) await propose(one, "1", "pay", { order: one });
    const tail = async (...args: string[]) => {
      const lines = (await run("tail", "--once", "--json", ...args)).stdout.trim().split("\n");
      return lines.map((line) => JSON.parse(line)["conversationId"]);
    };
    expect(await tail()).toEqual(conversations);
    expect(await tail("--limit", "4")).toEqual(conversations.slice(0, 4));
  });

  test("follows a journal, explains a decision, and decides again by another policy", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 2 });
    const { file, run, json } = commandsOn(kit);
    await kit.startGate(POLICY).ready();
    const propose = await callsOn(kit);
    const card = "4111-2222-3333-4444";
    const paid = await propose("c", "1", "pay", { card });
    const again = await propose("c", "2", "pay", { card });
    const held = await propose("d", "1", "delete_row", { id: 1 });
    const { approvalId = "", decisionId = "" } = held;
    await run("approvals", "approve", approvalId, "--reason", "ok");
    const current = file("current.yaml", POLICY);

    const lines = (await run("tail", "--once", "--json")).stdout.trim().split("\n");
    const ids = lines.map((line) => JSON.parse(line).decisionId).sort();
    expect(ids).toEqual([paid.decisionId, again.decisionId, decisionId, decisionId].sort());
    expect(lines.join()).toMatch(/sealed:/);
    expect(lines.join()).not.toContain(card);
    const refused = await run("tail", "--once", "--limit", "1", "--outcome", "refused");
    expect(refused.stdout).toMatch(/^\S+Z {2}refused {2}duplicate_in_flight {2}c {2}pay /);

    // An approved held call has two decisions, each with its own line of the policy.
    const explained = await run("explain", decisionId.slice(0, 12), "--policy", current);
    expect(explained.stdout.match(/^rule .*$/gm)).toEqual([
      `rule          authorization.tiers[0]: ${current}:4:7`,
      "rule          none: no rule was against it",
    ]);
    const asJson = await json("explain", decisionId, "--policy", current);
    expect(asJson).toMatchObject({ code: 0, location: `${current}:4:7` });
    expect(await json("explain", "0".repeat(32))).toMatchObject({
      code: 2,
      error: { exitCode: 2 },
    });

    const same = await json("backtest", "--candidate", current);
    expect(same).toMatchObject({ code: 0, decisions: 4, changed: 0, conversations: 2 });
    const stricter = file(
      "stricter.yaml",
      POLICY.replace("action: hitl, require_reason: true, expires_ms: 600000", "action: deny"),
    );
    const report = await json("backtest", "--candidate", stricter);
    expect(report).toMatchObject({ code: 1, changed: 1, conversationsChanged: 1 });
    expect(report.changes).toMatchObject([
      {
        tool: "delete_row",
        before: "held",
        after: "refused tier_denied",
        location: `${stricter}:4:7`,
      },
    ]);
    const allowed = await run("backtest", "--candidate", stricter, "--allow-changes");
    expect(allowed).toMatchObject({ code: 0, stderr: "" });
  });

  test("replays a dead letter of a sensitive proposal from the topic that has it", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 1 });
    const { run, json } = commandsOn(kit);
    const topic = kit.config.kafka.topics.proposals;
    const producer = connectKafka(kafka.brokers).producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ key: "default/c", value: "{4111" }] });
    await producer.disconnect();
    await kit.startGate(POLICY).ready();
    const names = async () =>
      (await json("dlq", "list")).deadLetters.map(({ letter }: { letter: string }) => letter);
    await expect.poll(names, TIMES).toHaveLength(1);

    const [letter = ""] = await names();
    const shown = await run("dlq", "show", letter);
    expect(shown.stdout).toMatch(/^input {3}proposals, partition 0, offset 0$/m);
    expect(shown.stdout).toMatch(/^value {3}not in the letter, see input$/m);
    expect(shown.stdout).not.toContain("4111");
    const dry = await json("dlq", "replay", letter, "--dry-run");
    expect(dry).toEqual({ code: 0, dryRun: true, replayed: [letter], withoutValue: [] });
    expect(await run("dlq", "replay", letter)).toMatchObject({
      code: 0,
      stdout: "1 input appended again\n",
    });
    await expect.poll(names, TIMES).toHaveLength(2);

    const admin = connectKafka(kafka.brokers).admin();
    await admin.connect();
    // kafkajs deletes records only of topics whose metadata it has.
    await admin.fetchTopicMetadata({ topics: [topic] });
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "-1" }] });
    await admin.disconnect();
    const gone = await run("dlq", "replay", letter);
    expect(gone).toMatchObject({ code: 3, stdout: "0 inputs appended again\n" });
    expect(gone.stderr).toContain(`left out ${letter}: neither the letter nor the topic`);
    expect(await names()).toHaveLength(2);
  });
});
