// Long-running commands without a cluster: how they report their configuration, and how they wait.
import { describe, expect, test } from "vitest";
import { startProcess } from "../../support/processes/running-process.ts";
import { runCallgate } from "../../support/run-callgate.ts";

/** Nothing listens there. */
const NOWHERE = "127.0.0.1:9";
const POLICY = "tool_schemas: {pay: {}}\n";
const CONFIG = {
  kafka: { brokers: [NOWHERE], connectionTimeoutMs: 500 },
  http: { port: 0 },
  secret: { value: "a secret that is long enough" },
};

describe("an invalid configuration", () => {
  test("is rejected with all problems, and nothing starts", async () => {
    const config = { kafka: { brokers: [] }, http: { prot: 1 } };
    const gate = startProcess(["gate"], config);
    expect(await gate.ended).toEqual({ code: 2, signal: null });
    expect(gate.lines).toEqual([]);
    const errorLines = gate.stderr.split("\n").filter((line) => !line.includes("building dist/"));
    expect(errorLines.map((line) => line.replace(/\S+callgate\.json/, "FILE"))).toEqual([
      "callgate: the configuration has 4 problems; docs/configuration.md lists the keys",
      expect.stringMatching(/^callgate: FILE:1:11: kafka\.brokers: is empty; set a value/),
      expect.stringMatching(
        /^callgate: FILE:1:33: http\.prot: is not a key; did you mean `port`\?/,
      ),
      expect.stringMatching(/^callgate: FILE: policy\.files: is missing; add it, or set/),
      expect.stringMatching(/^callgate: FILE: secret\.value: is missing; add it, or set/),
      "",
    ]);
  });

  test("may come from the environment alone, and the variables are listed", async () => {
    const env = { CALLGATE_KAFKA_BROKERS: "one", CALLGATE_KAFKA_BROKER: "one:1" };
    const { code, stderr } = await runCallgate(["config", "print"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain("CALLGATE_KAFKA_BROKERS: kafka.brokers.0: is not an address");
    expect(stderr).toContain("did you mean `CALLGATE_KAFKA_BROKERS`?");
  });

  test("is printed with its secrets masked, if there are any", async () => {
    const env = {
      CALLGATE_KAFKA_BROKERS: NOWHERE,
      CALLGATE_SECRET_VALUE: "this is not to be shown",
    };
    const { code, stdout } = await runCallgate(["config", "print", "--json"], { env });
    expect(code).toBe(0);
    expect(stdout).not.toContain("this is not to be shown");
    expect(JSON.parse(stdout)).toMatchObject({
      kafka: { brokers: [NOWHERE], topicPrefix: "toolcalls" },
      secret: { value: "********" },
    });
  });
});

test("rejects an invalid policy with its lines", async () => {
  const config = { ...CONFIG, policy: { files: ["policy.yaml"] } };
  const gate = startProcess(["gate"], config, { "policy.yaml": "tool_schemas: 5\ncolour: red\n" });
  expect((await gate.ended).code).toBe(2);
  expect(gate.stderr).toMatch(/policy\.yaml:1:15: tool_schemas: must be a map/);
  expect(gate.stderr).toMatch(/policy\.yaml:2:1: colour: /);
});

test.each([
  ["nowhere.yaml", "there is no such file"],
  [".", "it is a directory"],
])("rejects a policy that cannot be read as wrong configuration: %s", async (file, why) => {
  const gate = startProcess(["gate"], { ...CONFIG, policy: { files: [file] } });
  expect((await gate.ended).code).toBe(2);
  expect(gate.stderr).toContain(`cannot be read: ${why}`);
});

describe("invalid handlers", () => {
  test.each([
    ["export const handlers = 5;", "must be an object of functions"],
    ["export const handlers = { pay: 5 };", "no functions: `pay`"],
    ["const nothing = 1;", "exports no handlers"],
    ["throw new Error('broken');", "cannot be loaded: broken"],
    ["export const pay = 5 5;", "cannot be loaded: Unexpected number; `node --check "],
    [
      'Promise.reject(new Error("left alone")); await new Promise(() => setTimeout(() => 1, 60_000));',
      "cannot be loaded: nobody caught an error: left alone (at ",
    ],
  ])("are rejected: %s", async (module, expected) => {
    const config = { ...CONFIG, executor: { handlers: "handlers.mjs" } };
    const executor = startProcess(["executor"], config, { "handlers.mjs": module });
    expect((await executor.ended).code).toBe(2);
    expect(executor.stderr).toContain(expected);
  });
});

describe("without brokers", () => {
  test("a gate waits, is alive and not ready, and stops cleanly", async () => {
    const config = { ...CONFIG, policy: { files: ["policy.yaml"] } };
    const gate = startProcess(["gate"], config, { "policy.yaml": POLICY });
    await gate.line("starting");
    expect((await gate.get("/livez")).status).toBe(200);
    const ready = await gate.get("/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ ok: false, state: "starting" });
    const numbers = await (await gate.get("/metrics")).text();
    expect(numbers).toContain("callgate_inputs_total");
    expect(numbers).toContain('callgate_ready{service="gate"} 0');
    gate.child.kill("SIGTERM");
    expect(await gate.ended).toEqual({ code: 0, signal: null });
    expect(gate.lines.map(({ msg }) => msg)).toContain("ended before it had started");
  });

  test.each([
    [["executor"], "executor"],
    [["analytics", "run"], "analytics"],
    [["notify", "run"], "notify"],
  ])(
    "%s waits, reports in its metrics that it is not ready, and stops cleanly",
    async (command, name) => {
      const targets = [{ id: "chat", form: "slack", url: "https://hooks.example.com/" }];
      const config = { ...CONFIG, executor: { handlers: "handlers.mjs" }, notify: { targets } };
      const running = startProcess(command, config, {
        "handlers.mjs": "export const pay = () => 1;",
      });
      await running.line("waits for what it needs");
      const ready = await running.get("/readyz");
      expect(ready.status).toBe(503);
      expect(await ready.json()).toEqual({
        ...{ ok: false, state: "starting" },
        waitsFor: expect.stringMatching(/ECONNREFUSED.*`kafka\.brokers`/),
      });
      const numbers = await (await running.get("/metrics")).text();
      expect(numbers).toContain(`callgate_ready{service="${name}"} 0`);
      running.child.kill("SIGTERM");
      expect(await running.ended).toEqual({ code: 0, signal: null });
    },
  );

  test.each(["Promise.reject(error)", "(() => { throw error; })()"])(
    "an uncaught error (%s) is logged, and the process stops cleanly",
    async (stray) => {
      const module = `
        const error = new Error("left alone");
        setTimeout(() => void ${stray}, 2_000);
        export const pay = () => 1;
      `;
      const config = { ...CONFIG, executor: { handlers: "handlers.mjs" } };
      const executor = startProcess(["executor"], config, { "handlers.mjs": module });
      expect(await executor.ended).toEqual({ code: 3, signal: null });
      const fatalLine = executor.lines.find(({ msg }) => msg === "the process cannot go on");
      expect(fatalLine?.["message"]).toMatch(
        /^nobody caught an error: left alone \(at file:.*handlers\.mjs:2:/,
      );
      expect(executor.lines.map(({ msg }) => msg)).toContain("ended before it had started");
      expect(executor.stderr).not.toContain("left alone");
    },
  );

  test("an address in use is reported with the configuration key", async () => {
    const config = { ...CONFIG, policy: { files: ["policy.yaml"] } };
    const first = startProcess(["gate"], config, { "policy.yaml": POLICY });
    const { port } = await first.line("starting");
    const second = startProcess(["gate"], { ...config, http: { port } }, { "policy.yaml": POLICY });
    expect((await second.ended).code).toBe(3);
    expect(second.stderr).toContain("EADDRINUSE");
    expect(second.stderr).toContain("CALLGATE_HTTP_PORT");
  });
});
