// `callgate demo --config`: what `npm run demo:kafka` plays, and that it reports deviations.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";
import { startProcess } from "../../support/processes/running-process.ts";
import { runCallgate } from "../../support/run-callgate.ts";

const kafka = await kafkaBackend();

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const POLICY = readFileSync(join(ROOT, "infra/policies/demo.yaml"), "utf8");
const HANDLERS = join(ROOT, "infra/handlers/demo-world.mjs");

async function playUnder(policy: string) {
  const kit = await createClusterKit(kafka.brokers);
  const gate = kit.startGate(policy);
  const executor = startProcess(["executor", "--handlers", HANDLERS], kit.config);
  await Promise.all([gate.ready(), executor.ready()]);
  const config = join(executor.directory, "agent.json");
  writeFileSync(config, JSON.stringify(kit.config));
  const played = await runCallgate(["demo", "--json", "--config", config], {
    cwd: executor.directory,
  });
  const lines = played.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const world = JSON.parse(readFileSync(join(executor.directory, "world.json"), "utf8"));
  return { ...played, lines, world };
}

describe.skipIf(!kafka.available)("the demo on a cluster", () => {
  test("goes as in one process; the executor runs the allowed calls", async () => {
    const { code, stderr, lines, world } = await playUnder(POLICY);
    expect(stderr).not.toContain("instead of");
    expect(code, stderr).toBe(0);
    expect(lines.filter(({ type }) => type === "decision")).toHaveLength(31);
    expect(world).toEqual(lines.at(-1).world);
    expect(world).toMatchObject({ bills: ["A-17", "B-42"], payments: ["ann"] });
    expect(world.deletions).toEqual(["c-1029"]);
  });

  test("reports unexpected decisions, with exit code 1", async () => {
    const lax = POLICY.replace("preset: balanced", "preset: observe");
    const { code, stderr, world } = await playUnder(lax);
    expect(code, stderr).toBe(1);
    expect(stderr).toContain("demo-payment, call 2: `allowed pay` instead of `refused pay`");
    expect(world.payments).toEqual(["ann", "ann", "Ann"]);
  });
});
