// "Run it on Kafka" of the README, line by line as written, in one shell with ports and topics of
// its own.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreePorts } from "../../../infra/local/free-ports.js";
import { localParts } from "../../support/backends/local-parts.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const NAME = `readme-${process.pid}`;
const TIMEOUT_MS = 180_000;

let directory = "";
beforeAll(() => {
  mkdirSync(join(REPOSITORY, ".callgate"), { recursive: true });
  // Inside the repository, where `callgate` resolves to this package.
  directory = mkdtempSync(join(REPOSITORY, ".callgate", "readme-"));
});
afterAll(() => {
  const env = { ...process.env, CALLGATE_INFRA_NAME: NAME };
  spawnSync(process.execPath, ["tasks/infra.js", "down"], { cwd: REPOSITORY, env });
  rmSync(directory, { recursive: true, force: true });
});

/** The blocks of the section, in order: [language, text]. */
function blocks(): readonly (readonly [string, string])[] {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const [section = ""] = (readme.split("\n## Run it on Kafka\n")[1] ?? "").split("\n## ");
  const matches = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)];
  return matches.map(([, language = "", text = ""]) => [language, text]);
}

/**
 * The step-by-step commands, with the agent where the README says to run it, and the test's ports
 * and file paths. What runs in the background ends with the shell, also where a line fails.
 */
function script([gate = 0, executor = 0, analytics = 0]: readonly number[]): string {
  const [fetch, steps, agent, after] = blocks();
  expect([fetch, steps, agent, after].map((block) => block?.[0])).toEqual(["sh", "sh", "js", "sh"]);
  writeFileSync(join(directory, "agent.mjs"), agent?.[1] ?? "");
  const example = "node examples/decision-consumer/consume.mjs 1";
  const lines = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${steps?.[1]}node ${directory}/agent.mjs\n${example}\n${after?.[1]}`;
  return lines
    .replaceAll(/> (\w+\.log)/g, `> ${directory}/$1`)
    .replace("=.callgate/analytics", `=${directory}/analytics`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${gate}`)
    .replace(/^(?=node \S+ gate )/m, `CALLGATE_HTTP_PORT=${gate} `)
    .replace(/^(?=node \S+ executor )/m, `CALLGATE_HTTP_PORT=${executor} `)
    .replace(/^(?=node \S+ analytics )/m, `CALLGATE_HTTP_PORT=${analytics} `);
}

test.skipIf(!localParts(["kafka", "redis", "registry"]).available)(
  "the README's steps run as written, and the second payment is a duplicate",
  async () => {
    const run = spawnSync("bash", ["-emc", script(await findFreePorts(3))], {
      cwd: REPOSITORY,
      env: { ...process.env, CALLGATE_INFRA_NAME: NAME },
      encoding: "utf8",
      timeout: TIMEOUT_MS,
    });
    const logs = ["gate", "executor", "analytics"].map((name) =>
      readFileSync(join(directory, `${name}.log`), "utf8"),
    );
    expect(run.status, `${run.stdout}\n${run.stderr}\n${logs.join("\n")}`).toBe(0);
    expect(run.stdout).toMatch(/succeeded[\s\S]*duplicate_call/);
    // The example in examples/decision-consumer reads the same call.
    expect(run.stdout).toMatch(/^refused chat-1 pay: duplicate_call: /m);
    expect(logs.join("\n")).not.toMatch(/"level":"?(error|50)/);
  },
  TIMEOUT_MS,
);
