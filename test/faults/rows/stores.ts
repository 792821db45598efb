// Faults of Redis and the registry: down, emptied, filled with foreign data.
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "../../../infra/local/start-redis.js";
import { startRegistry } from "../../../infra/local/start-registry.js";
import { askRedis } from "../../support/backends/ask-redis.ts";
import type { Lab } from "../lab/lab.ts";
import type { Row } from "../lab/row.ts";

/** Short enough that every fault finds a checkpoint. */
const OFTEN = { gate: { checkpointEveryRecords: 200 } };

async function restart(lab: Lab): Promise<void> {
  const struckAtMs = Date.now();
  await lab.gates.at(-1)?.kill();
  await lab.startGate();
  await lab.recover(struckAtMs);
}

const FIND_KEYS = `
local names = redis.call('KEYS', ARGV[1])
table.sort(names)
return redis.status_reply(table.concat(names, ' '))
`;

/** Waits until every partition has a checkpoint; returns their keys. */
async function checkpointed(lab: Lab, url: string): Promise<readonly string[]> {
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await askRedis(url, ["EVAL", FIND_KEYS, "0", `cg:{${lab.group}.*`]);
    const keys = answer.slice(1).split(" ");
    if (keys.length === lab.partitions) return keys;
    await sleep(100);
  }
  throw new Error("no checkpoint was written to Redis");
}

export const redisStruck: Row = {
  name: "redis",
  about:
    "flushed, rolled back, corrupt, foreign, deleted, full and evicting, killed and back; a take-over after each",
  inShort: false,
  faultsMin: () => 7,
  needs: ["redis"],
  run: async ({ open, onEnd, fail }) => {
    const redis = await startRedis();
    onEnd(() => redis.stop());
    const { url } = redis;
    const lab = await open({ config: { ...OFTEN, redis: { url } } });
    await lab.startGate();
    await lab.load.start();
    const [one = "", two = "", three = ""] = await checkpointed(lab, url);
    await askRedis(url, ["FLUSHALL"]);
    await restart(lab);
    await checkpointed(lab, url);
    await mustBe(url, ["COPY", one, "older"], ":1", fail);
    await sleep(3_000);
    await mustBe(url, ["COPY", "older", one, "REPLACE"], ":1", fail);
    await restart(lab);
    await checkpointed(lab, url);
    for (const key of [one, two]) await askRedis(url, ["EVAL", CORRUPT, "1", key]);
    await restart(lab);
    await checkpointed(lab, url);
    await mustBe(url, ["COPY", two, three, "REPLACE"], ":1", fail);
    await restart(lab);
    await checkpointed(lab, url);
    await mustBe(url, ["DEL", one, three], ":2", fail);
    await restart(lab);
    await checkpointed(lab, url);
    await fillUp(url, fail);
    await restart(lab);
    redis.kill("SIGKILL");
    await redis.waitForExit();
    await restart(lab);
    await redis.restart();
    return lab;
  },
};

/** Foreign keys evict the checkpoints from a full Redis. */
async function fillUp(url: string, fail: (problem: string) => void): Promise<void> {
  const set = async (name: string, value: string) =>
    mustBe(url, ["CONFIG", "SET", name, value], "+OK", fail);
  await set("maxmemory-policy", "allkeys-lru");
  await set("maxmemory", "4mb");
  const filler = "x".repeat(50_000);
  for (let number = 0; number < 200; number += 1) {
    await askRedis(url, ["SET", `filler-${number}`, filler]);
  }
  const left = Number((await askRedis(url, ["DBSIZE"])).slice(1));
  if (left >= 200) fail(`void: ${left} keys are left, nothing was evicted`);
  await askRedis(url, ["EVAL", EVICTED, "0"]).then((evicted) => {
    if (evicted === ":0") fail("void: Redis says that it evicted nothing");
  });
}

const EVICTED = `return tonumber(string.match(redis.call('INFO', 'stats'), 'evicted_keys:(%d+)'))`;

async function mustBe(
  url: string,
  command: readonly string[],
  answer: string,
  fail: (problem: string) => void,
): Promise<void> {
  const actual = await askRedis(url, command);
  if (actual !== answer) fail(`redis: ${command.join(" ")} answered ${actual}`);
}

/** Changes a byte of every field: headers and blobs. */
const CORRUPT = `
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do redis.call('HSET', KEYS[1], all[i], all[i + 1] .. 'x') end
  return #all`;

export const registryDown: Row = {
  name: "registry down",
  about: "at the start of a gate, which waits for it, and while it runs, which it does not notice",
  inShort: false,
  faultsMin: () => 2,
  needs: ["registry"],
  run: async ({ open, onEnd, fail }) => {
    const registry = await startRegistry();
    onEnd(() => registry.stop());
    const { url } = registry;
    const lab = await open({
      config: { registry: { url, register: true, timeoutMs: 1_000 } },
      // The checker uses the registry's schemas.
      checkAfterFaults: 2,
    });
    await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    registry.kill("SIGKILL");
    await lab.recover();
    await lab.gates.at(-1)?.kill();
    const struckAtMs = Date.now();
    const waiting = lab.beginGate();
    await sleep(4_000);
    if (!waiting.isRunning) fail(`a gate without its registry ended:\n${waiting.log}`);
    if (await waiting.isReady()) fail("a gate without its registry says that it is ready");
    await registry.restart();
    await lab.recover(struckAtMs);
    return lab;
  },
};
