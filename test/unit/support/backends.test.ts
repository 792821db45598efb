// Where tests get real parts from, in which order, and what becomes of them where there are none.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { TestProject } from "vitest/node";
import { askRedis } from "../../support/backends/ask-redis.ts";
import { askForPart, type PartName } from "../../support/backends/backend.ts";
import { setup, teardown } from "../../support/backends/global-setup.ts";
import { localParts } from "../../support/backends/local-parts.ts";
import { RunParts } from "../../support/backends/run-parts.ts";

/** The machine's container engine, in the place of which this one answers, or does not. */
const engine = vi.hoisted(() => ({ answers: false, started: 0, stopped: 0 }));

vi.mock("testcontainers", () => {
  const container = {
    getHost: () => "engine",
    getMappedPort: (port: number) => port,
    stop: async () => {
      engine.stopped += 1;
    },
  };
  class GenericContainer {
    readonly withExposedPorts = () => this;
    readonly withWaitStrategy = () => this;
    readonly start = async () => {
      engine.started += 1;
      return container;
    };
  }
  const getContainerRuntimeClient = async () => {
    if (!engine.answers) throw new Error("nobody is at the socket");
  };
  const Wait = { forLogMessage: () => undefined, forHttp: () => undefined };
  return { GenericContainer, Wait, getContainerRuntimeClient };
});
vi.mock("@testcontainers/kafka", () => ({ KafkaContainer: class {} }));

const PARTS: readonly PartName[] = ["kafka", "redis", "registry"];
const ADDRESSES: Readonly<Record<PartName, readonly [variable: string, address: string]>> = {
  kafka: ["KAFKA_BROKERS", "one:9092,two:9092"],
  redis: ["REDIS_URL", "redis://given:6379"],
  registry: ["SCHEMA_REGISTRY_URL", "http://given:8080/apis"],
};

/** Answers as Redis does when it is asked whether it is there. */
const FAKE_REDIS = `#!${process.execPath}
const [option, ...rest] = process.argv.slice(2);
if (option === "--version") process.exit(0);
const port = Number([option, ...rest][[option, ...rest].indexOf("--port") + 1]);
require("node:net").createServer((socket) => socket.end("+PONG fake\\r\\n")).listen(port, "127.0.0.1");
`;

const { PATH = "" } = process.env;

let scratch = "";
let programs = "";

/** A program on the path, before those of the machine. */
function addProgram(name: string, text: string): void {
  writeFileSync(join(programs, name), text, { mode: 0o755 });
}

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "callgate-backends-"));
  programs = join(scratch, "programs");
  mkdirSync(programs);
  // A machine that has nothing.
  for (const [variable] of Object.values(ADDRESSES)) vi.stubEnv(variable, "");
  vi.stubEnv("PATH", programs);
  vi.stubEnv("CALLGATE_CACHE", join(scratch, "cache"));
  vi.stubEnv("CALLGATE_TEST_KAFKA", undefined);
  vi.stubEnv("CALLGATE_REQUIRE", "");
  vi.stubEnv("CALLGATE_SKIP_LOG", join(scratch, "skips.jsonl"));
  Object.assign(engine, { answers: false, started: 0, stopped: 0 });
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

function openParts(): RunParts {
  const parts = new RunParts();
  onTestFinished(() => parts.close());
  return parts;
}

/** Asks as a test does: over the main process of its run. */
async function askAsTest(part: PartName) {
  let url = "";
  const provide = (_: string, value: string): void => {
    url = value;
  };
  await setup({ provide } as unknown as TestProject);
  try {
    return await askForPart(part, url);
  } finally {
    await teardown();
  }
}

const skips = (): readonly { readonly reason: string }[] => {
  const file = join(scratch, "skips.jsonl");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
};

describe("a backend", () => {
  test.each(PARTS)(
    "is the one at a configured address, whatever else there is: %s",
    async (part) => {
      const [variable, address] = ADDRESSES[part];
      vi.stubEnv(variable, address);
      addProgram("redis-server", FAKE_REDIS);
      engine.answers = true;
      const answer = await openParts().ask(part);
      expect(answer).toEqual({ available: true, address, how: variable });
      expect(await askAsTest(part)).toEqual({ available: true, address, reason: "" });
      expect(engine.started).toBe(0);
      expect(skips()).toEqual([]);
    },
  );

  test("is started here once, before a container engine is tried, and ends with the run", async () => {
    vi.stubEnv("PATH", `${programs}${delimiter}${PATH}`);
    addProgram("redis-server", FAKE_REDIS);
    engine.answers = true;
    const parts = openParts();
    const [answer, again] = await Promise.all([parts.ask("redis"), parts.ask("redis")]);
    if (!answer.available) throw new Error(answer.reason);
    expect(answer.how).toBe("started locally");
    expect(again).toEqual(answer);
    expect(await askRedis(answer.address, ["PING"])).toBe("+PONG fake");
    expect(engine.started).toBe(0);
    await parts.close();
    await expect(askRedis(answer.address, ["PING"])).rejects.toThrow(/ECONN(REFUSED|RESET)/);
  });

  test("is started in a container if it cannot be started here, and ends with the run", async () => {
    engine.answers = true;
    const parts = openParts();
    expect(await parts.ask("redis")).toEqual({
      ...{ available: true, address: "redis://engine:6379", how: "started in a container" },
    });
    expect(engine).toMatchObject({ started: 1, stopped: 0 });
    await parts.close();
    expect(engine).toMatchObject({ started: 1, stopped: 1 });
  });

  test("fails the run when it should start and does not", async () => {
    addProgram("redis-server", `#!/bin/sh\n[ "$1" = --version ] || exit 1\n`);
    engine.answers = true;
    await expect(askAsTest("redis")).rejects.toThrow(/^redis could not be started: .*it ended/);
    expect(engine.started).toBe(0);
    expect(skips()).toEqual([]);
  });
});

describe("a backend that cannot be started", () => {
  const obstacles: Readonly<Record<PartName, string>> = {
    kafka:
      "`java` is not on the path: install it (Debian: apt-get install openjdk-17-jre-headless)",
    redis: "`redis-server` is not on the path: install it (Debian: apt-get install redis-server)",
    registry:
      "`java` is not on the path: install it (Debian: apt-get install openjdk-17-jre-headless)",
  };
  const all = PARTS.map((part) => [part, ADDRESSES[part][0], obstacles[part]] as const);

  test.each(all)(
    "is skipped, with everything that was tried as the reason: %s",
    async (part, variable, obstacle) => {
      const reason = `${variable} is not set; ${obstacle}; no container engine: nobody is at the socket`;
      expect(await askAsTest(part)).toEqual({ available: false, address: "", reason });
      expect(skips()).toEqual([{ file: import.meta.filename, reason }]);
    },
  );

  test.each(all)("is a failure when it is required: %s", async (part, variable, obstacle) => {
    vi.stubEnv("CALLGATE_REQUIRE", "kafka,redis,registry");
    const asked = askAsTest(part);
    await expect(asked).rejects.toThrow(`${variable} is not set; ${obstacle}`);
    await expect(asked).rejects.toThrow("and CALLGATE_REQUIRE asks for it");
    expect(skips()).toEqual([]);
    expect(() => localParts([part])).toThrow(`${obstacle}, and CALLGATE_REQUIRE asks for it`);
  });

  test.each(["kafka", "registry"] as const)(
    "is skipped with Java but without its files in the cache: %s",
    (part) => {
      addProgram("java", "#!/bin/sh\n");
      const reason = `${part} is not in the cache: run \`npm run infra:fetch\``;
      expect(localParts([part])).toEqual({ available: false, reason });
      expect(skips()).toEqual([{ file: import.meta.filename, reason }]);
      vi.stubEnv("CALLGATE_REQUIRE", part);
      expect(() => localParts([part])).toThrow(reason);
    },
  );
});
