// A gate that is suspended past its session, and resumes when others own its partitions.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  isReady,
  JOURNAL_RETENTION,
  Load,
  openTestGate,
  ownedBy,
  untilDecided,
} from "../../support/kafka/test-gate.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
const CHILD = fileURLToPath(new URL("../../support/kafka/gate-child.ts", import.meta.url));

type Line = { readonly ready?: true; readonly state?: string; readonly failed?: string };

function spawnGate(args: readonly string[]): { child: ChildProcess; lines: Line[] } {
  const lines: Line[] = [];
  const child = spawn(process.execPath, ["--import", "tsx", CHILD, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const whole = (rest + text).split("\n");
    rest = whole.pop() ?? "";
    lines.push(...whole.map((line) => JSON.parse(line) as Line));
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await gone;
  });
  return { child, lines };
}

describe.skipIf(!kafka.available)(`a suspended gate on a real broker ${kafka.reason}`, () => {
  it("decides nothing twice when it resumes, and shares the partitions again", async () => {
    const names = await makeTopics(kafka.brokers, { partitions: 2, config: JOURNAL_RETENTION });
    const log = await openTestLog(kafka.brokers, names);
    onTestFinished(() => log.close());
    const group = uniqueName("gates");
    const { child, lines } = spawnGate([kafka.brokers.join(), JSON.stringify(names), group]);
    await until(() => lines.some(({ ready }) => ready === true));
    const load = new Load(log, 5, 5);
    await until(() => load.count >= 100);
    child.kill("SIGSTOP");
    const other = await openTestGate(kafka.brokers, names, { group });
    onTestFinished(() => other.stop());
    await other.host.start();
    await until(() => ownedBy(other).length === 2 && isReady(other));
    const before = lines.length;
    child.kill("SIGCONT");
    await until(() => ownedBy(other).length === 1 && isReady(other));
    await until(() => lines.slice(before).some(({ state }) => state === "running"));
    const count = await load.stop();
    const { byCall, problems, proposals } = await untilDecided(log, count);
    expect(problems).toEqual([]);
    expect(proposals).toBe(count);
    expect(byCall.size).toBe(count);
    expect([...byCall.values()].filter((types) => types.length !== 1)).toEqual([]);
    expect(lines.filter(({ failed }) => failed !== undefined)).toEqual([]);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});
