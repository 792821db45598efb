import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { waitUntilGone } from "../../../infra/local/child.js";
import { runFolder } from "../../../infra/local/folders.js";
import { parseOptions } from "../../../infra/local/parse-options.js";
import { isAlive, killIfSame, readStartedAt } from "../../../infra/local/process-identity.js";
import { findGone, readState } from "../../../infra/local/run-state.js";
import { startKafka } from "../../../infra/local/start-kafka.js";
import { startRedis } from "../../../infra/local/start-redis.js";
import { down, up } from "../../../infra/local/up-and-down.js";
import { askRedis } from "../../support/backends/ask-redis.ts";
import { localParts } from "../../support/backends/local-parts.ts";
import { connectKafka, makeTopics } from "../../support/kafka/test-cluster.ts";
import { endOf } from "../../support/run-callgate.ts";

const redisHere = localParts(["redis"]);
const kafkaHere = localParts(["kafka"]);

describe("a process is known by its pid and the time of its start", () => {
  const self = { pid: process.pid, startedAt: readStartedAt(process.pid) ?? "" };

  test("this one is alive", () => {
    expect(isAlive(self)).toBe(true);
  });

  test("one that had this pid before is neither alive nor killed", () => {
    const earlier = { pid: process.pid, startedAt: "1" };
    expect(isAlive(earlier)).toBe(false);
    expect(killIfSame(earlier, "SIGKILL")).toBe(false);
  });
});

describe.skipIf(!redisHere.available)("a Redis of one's own", () => {
  test("comes back empty on its port after it was killed, and goes with its folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-own-redis-"));
    const redis = await startRedis({ folder });
    const { pid } = redis;
    try {
      expect(await askRedis(redis.url, ["SET", "a", "1"])).toBe("+OK");
      expect(redis.kill()).toBe(true);
      await redis.waitForExit();
      expect(redis.isAlive()).toBe(false);
      await redis.restart();
      expect(redis.pid).not.toBe(pid);
      expect(await askRedis(redis.url, ["GET", "a"])).toBe("$-1");
    } finally {
      await redis.stop();
    }
    expect(redis.isAlive()).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  test("ends with whoever started it, killed or not", async () => {
    const program = fileURLToPath(new URL("../../support/hold-redis.mjs", import.meta.url));
    const holder = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(holder.stdout.setEncoding("utf8"), "data");
    const redis: { pid: number; startedAt: string; url: string } = JSON.parse(line);
    expect(await askRedis(redis.url, ["PING"])).toBe("+PONG");
    holder.kill("SIGKILL");
    await waitUntilGone(redis);
    await expect(askRedis(redis.url, ["PING"])).rejects.toThrow(/ECONNREFUSED/);
  });

  test("says why it did not start", async () => {
    const args = ["--no-such-option", "yes"];
    await expect(startRedis({ args })).rejects.toThrow(/did not start: it ended.*no-such-option/s);
  });
});

describe.skipIf(!kafkaHere.available)("a Kafka of one's own", () => {
  test("has its topics where it is started again in the folder of one that was killed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-own-kafka-"));
    const first = await startKafka({ folder, keepFolder: true });
    onTestFinished(() => first.stop());
    const names = await makeTopics(first.bootstrap, { partitions: 1 });
    for (const broker of first.brokers) {
      broker.kill();
      await broker.waitForExit();
    }
    const second = await startKafka({ folder, keepFolder: true });
    onTestFinished(() => second.stop());
    const admin = connectKafka(second.bootstrap).admin();
    await admin.connect();
    const topics = await admin.listTopics();
    await admin.disconnect();
    expect(topics).toEqual(expect.arrayContaining(Object.values(names)));
  });
});

describe.skipIf(!redisHere.available)("infra:up", () => {
  const options = parseOptions(["up", "--only", "redis", "--name", `test-${process.pid}`], {});
  const cache = mkdtempSync(join(tmpdir(), "callgate-cache-"));

  beforeAll(() => {
    vi.stubEnv("CALLGATE_CACHE", cache);
  });

  afterAll(async () => {
    await down(options.name);
    vi.unstubAllEnvs();
    rmSync(cache, { recursive: true, force: true });
  });

  test("starts once, notices what has ended by itself, and infra:down leaves nothing", async () => {
    const [first] = await up(options);
    expect(first?.part).toBe("redis");
    expect(await up(options)).toEqual([first]);

    for (const entry of first?.processes ?? []) {
      killIfSame(entry, "SIGKILL");
      await waitUntilGone(entry);
    }
    expect(readState(options.name).flatMap(findGone)).toHaveLength(1);
    const [second] = await up(options);
    expect(second?.processes[0]?.pid).not.toBe(first?.processes[0]?.pid);
    expect(second?.address).toBe(first?.address);
    expect(await askRedis(second?.address ?? "", ["PING"])).toBe("+PONG");

    await down(options.name);
    expect(second?.processes.filter(isAlive)).toEqual([]);
    expect(existsSync(runFolder(options.name))).toBe(false);
  });
});

const program = fileURLToPath(new URL("../../../tasks/infra.js", import.meta.url));
const infra = (args: readonly string[], env: Record<string, string> = {}) =>
  endOf(spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env } }));

test.skipIf(!redisHere.available)("what infra:up starts lives on until infra:down", async () => {
  const name = ["--name", `test-command-${process.pid}`];
  const cache = mkdtempSync(join(tmpdir(), "callgate-cache-"));
  const env = { CALLGATE_CACHE: cache };
  try {
    const started = await infra(["up", "--only", "redis", ...name], env);
    expect(started).toMatchObject({ code: 0, stderr: "" });
    const url = /^export REDIS_URL=(\S+) /.exec(started.stdout)?.[1] ?? "";
    expect(await askRedis(url, ["PING"])).toBe("+PONG");
    expect(await infra(["status", ...name], env)).toMatchObject({
      code: 0,
      stdout: started.stdout,
    });
    expect(await infra(["down", ...name], env)).toMatchObject({ code: 0 });
    await expect(askRedis(url, ["PING"])).rejects.toThrow(/ECONNREFUSED/);
  } finally {
    await infra(["down", ...name], env);
    rmSync(cache, { recursive: true, force: true });
  }
});

describe("the command", () => {
  test("names what is missing, and how it is had", async () => {
    const { code, stderr } = await infra(["up", "--name", "no-programs"], { PATH: "" });
    expect(code).toBe(3);
    expect(stderr).toMatch(/`java` is not on the path.*apt-get install openjdk-17-jre-headless/);
    expect(stderr).toMatch(/`redis-server` is not on the path/);
  });

  test("refuses what it does not know", async () => {
    const { code, stderr } = await infra(["up", "--only", "zookeeper"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "infra: --only `zookeeper`: give any of kafka,redis,registry\n",
    });
  });

  test("says when nothing runs", async () => {
    const status = await infra(["status", "--name", "never-started"]);
    expect(status).toMatchObject({ code: 1, stdout: "" });
    expect(await infra(["down", "--name", "never-started"])).toMatchObject({ code: 0 });
  });
});
