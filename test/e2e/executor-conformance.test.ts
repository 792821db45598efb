// Executors in two languages, driven through Kafka by `callgate conformance executor`, which kills them.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { EffectEndpoint } from "../../services/cli/conformance/effect-endpoint.ts";
import { kafkaBackend } from "../support/backends/kafka-backend.ts";
import { registryBackend } from "../support/backends/registry-backend.ts";
import { createClusterKit } from "../support/processes/cluster-kit.ts";
import { findPython } from "../support/python/python.ts";
import { runCallgate } from "../support/run-callgate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLES = join(REPOSITORY, "examples");
const PYTHON_EXECUTOR = join(EXAMPLES, "python-executor");
const LAUNCHER = join(REPOSITORY, "bin", "callgate.js");
const TYPESCRIPT = `node ${LAUNCHER} executor --handlers ${join(EXAMPLES, "executor", "conformance.mjs")}`;
const SESSION_MS = 2_000;
const LINES_MAX = 200;

const kafka = await kafkaBackend();
const registry = await registryBackend();
const python = await findPython(join(PYTHON_EXECUTOR, "requirements.txt"));

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-conformance-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const pythonCommand = (folder: string): string => `${python.path} ${join(folder, "executor.py")}`;

async function conform(command: string, rules: readonly string[] = [], sections: object = {}) {
  const config = join(mkdtempSync(join(directory, "run-")), "callgate.json");
  const settings = { brokers: kafka.brokers, sessionTimeoutMs: SESSION_MS };
  writeFileSync(config, JSON.stringify({ kafka: settings, ...sections }));
  const asked = rules.length === 0 ? [] : ["--rule", ...rules];
  const args = ["conformance", "executor", "--config", config, "--command", command, ...asked];
  const { code, stdout, stderr } = await runCallgate(args);
  const lines = stdout.trimEnd().split("\n");
  return { code, stderr, stdout, verdict: lines.at(-1) ?? "" };
}

/** The Python executor with a step left out. */
function pythonWithout(step: string, instead: string): string {
  const folder = mkdtempSync(join(directory, "careless-"));
  cpSync(PYTHON_EXECUTOR, folder, { recursive: true });
  const file = join(folder, "executor.py");
  const text = readFileSync(file, "utf8");
  expect(text).toContain(step);
  writeFileSync(file, text.replace(step, instead));
  return `CALLGATE_SCHEMAS=${join(REPOSITORY, "schemas")} ${pythonCommand(folder)}`;
}

/** Mostly they wait for sessions and starts, so they run beside each other. */
const BESIDE = { concurrent: true };

describe.skipIf(!kafka.available)(`callgate executor ${kafka.reason}`, BESIDE, () => {
  test("keeps every rule of the protocol", async () => {
    const run = await conform(TYPESCRIPT);
    expect(run.verdict, run.stdout + run.stderr).toMatch(/^conformant; .* 0 doubled$/);
    expect(run.code).toBe(0);
  });

  test.skipIf(!registry.available)("reads and writes in the format of a registry", async () => {
    const sections = { registry: { url: registry.url } };
    const run = await conform(
      TYPESCRIPT,
      ["claim", "failure", "kill-call", "unreadable"],
      sections,
    );
    expect(run.verdict, run.stdout + run.stderr).toMatch(/^conformant; .* 0 doubled$/);
  });

  test("is not blamed when the command cannot run", async () => {
    const { code, stderr } = await conform("no-such-executor");
    expect(stderr).toMatch(/the command ends by itself: it needs a handler for/);
    expect(code).toBe(3);
  });
});

const canRunPython = kafka.available && python.available;

describe.skipIf(!canRunPython)(
  `the Python executor ${kafka.reason}${python.reason}`,
  BESIDE,
  () => {
    test("has less than 200 lines that are not blank", () => {
      const lines = readFileSync(join(PYTHON_EXECUTOR, "executor.py"), "utf8").split("\n");
      expect(lines.filter((line) => line.trim() !== "").length).toBeLessThan(LINES_MAX);
    });

    test("keeps every rule of the protocol", async () => {
      const run = await conform(pythonCommand(PYTHON_EXECUTOR));
      expect(run.verdict, run.stdout + run.stderr).toMatch(/^conformant; .* 0 doubled$/);
      expect(run.code).toBe(0);
    });

    test("breaks rules without its take-over, and without waiting for open transactions", async () => {
      const noTakeOver = pythonWithout(
        "        for result, end_offset in read(RESULTS, self.partition):\n",
        "        for result, end_offset in [(None, until)]:\n",
      );
      const careless = await conform(noTakeOver, ["kill-call"]);
      expect(careless.stdout).toMatch(/^broken {2}kill-call /m);
      expect(careless.verdict).toMatch(/^not conformant: 2 rules broken; .* [1-9] doubled$/);
      expect(careless.code).toBe(1);

      const noWait = pythonWithout('"read_uncommitted"', '"read_committed"');
      const hasty = await conform(noWait, ["hidden"]);
      expect(hasty.stdout).toMatch(/^broken {2}hidden .* it ran a call that was started already$/m);
    });
  },
);

describe.skipIf(!canRunPython)(
  `the Python executor, with a gate ${kafka.reason}${python.reason}`,
  () => {
    test("runs the calls of a real gate", async () => {
      const kit = await createClusterKit(kafka.brokers);
      const endpoint = await EffectEndpoint.open();
      onTestFinished(() => endpoint.close());
      const gate = kit.startGate("tool_schemas: { conformance_effect: {} }\n");
      const { app, topics } = kit.config.kafka;
      const child = spawn(python.path, [join(PYTHON_EXECUTOR, "executor.py")], {
        stdio: "inherit",
        env: {
          ...process.env,
          CALLGATE_KAFKA_BROKERS: kafka.brokers.join(","),
          CALLGATE_KAFKA_TOPIC_PREFIX: topics.results.replace(/\.results\.v1$/, ""),
          CALLGATE_KAFKA_APP: app,
          CALLGATE_EXECUTOR_GROUP: kit.config.executor.group,
          CALLGATE_CONFORMANCE_URL: endpoint.url,
        },
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      await gate.ready();
      const callgate = await kit.connect();
      const call = {
        conversationId: "c1",
        turn: 1,
        step: 1,
        callId: "a",
        tool: "conformance_effect",
      };
      const { decisionId = "" } = await callgate.propose({ ...call, arguments: { order: "7" } });
      const result = await callgate.awaitResult(decisionId, { timeoutMs: 60_000 });
      expect(result).toMatchObject({ status: "succeeded", output: { done: decisionId } });
      expect(endpoint.effectsOf(decisionId)).toMatchObject([{ arguments: { order: "7" } }]);
    });
  },
);
