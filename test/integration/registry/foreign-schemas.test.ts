// A producer in Python that registers its own schema, as `AvroSerializer` does by default.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { registryBackend } from "../../support/backends/registry-backend.ts";
import { runInProcess } from "../../support/memory-terminal.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { type ClusterKit, createClusterKit } from "../../support/processes/cluster-kit.ts";
import { findPython } from "../../support/python/python.ts";

const kafka = await kafkaBackend();
const registry = await registryBackend();
const python = await findPython();

const POLICY = "tool_schemas: {pay: {}}\n";
const REGISTRY = { registry: { url: registry.url, register: true } };

const field = (name: string, type: string) => ({ name, type });
/** What a Python team writes: their namespace, and only the fields that they have. */
const THEIRS = {
  ...{ type: "record", name: "ProposedCall", namespace: "com.acme.agents" },
  fields: [
    ...["tenantId", "conversationId", "callId", "turn", "step"].map((name) =>
      field(name, "string"),
    ),
    ...["tool", "arguments"].map((name) => field(name, "string")),
  ],
};
const UNFIT = { ...THEIRS, fields: THEIRS.fields.filter(({ name }) => name !== "tool") };

const proposalOf = (callId: string) => ({
  ...{ tenantId: "acme", conversationId: "c-python", callId, turn: "1", step: "1" },
  ...{ tool: "pay", arguments: JSON.stringify({ order: callId }) },
});

async function produce(kit: ClusterKit, schema: object, callId: string): Promise<void> {
  const options = {
    ...{ brokers: kafka.brokers.join(","), registry: registry.url },
    ...{ topic: kit.config.kafka.topics.proposals, schema, proposals: [proposalOf(callId)] },
  };
  await python.run("produce_avro.py", JSON.stringify(options));
}

async function run(kit: ClusterKit, ...words: string[]) {
  const file = join(makeDirectory(), "callgate.json");
  writeFileSync(file, JSON.stringify({ ...kit.config, ...REGISTRY }));
  return await runInProcess([...words, "--json", "--config", file]);
}

async function registryPart(kit: ClusterKit) {
  const { stdout } = await run(kit, "doctor");
  return JSON.parse(stdout).findings.find(({ part }: { part: string }) => part === "registry");
}

const isReady = kafka.available && registry.available && python.available;
const why = `${kafka.reason}${registry.reason}${python.reason}`;

describe.skipIf(!isReady)(`a producer that registers its own schema ${why}`, () => {
  it("that resolves to ours is decided, and starts go on", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const first = kit.startGate(POLICY, REGISTRY);
    await first.ready();
    await produce(kit, THEIRS, "p1");
    first.child.kill("SIGTERM");
    await first.ended;
    const second = kit.startGate(POLICY, REGISTRY);
    await second.ready();
    const callgate = await kit.connect(REGISTRY);
    const call = { conversationId: "c-ours", callId: "o1", turn: 1, step: 1, tool: "pay" };
    expect(await callgate.propose({ ...call, arguments: {} })).toMatchObject({
      outcome: "allowed",
    });
    expect((await run(kit, "dlq", "list")).stdout).not.toContain("undecodable");
    await expect
      .poll(async () => (await run(kit, "tail", "--from-beginning", "--once")).stdout)
      .toContain('"p1"');
    expect(await registryPart(kit)).toMatchObject({
      state: "warning",
      lines: [expect.stringMatching(/proposed\S*-value: its latest version, 2 .* is not ours/)],
    });
  });

  it("that does not resolve to ours stops nobody, and its records become dead letters", async () => {
    const kit = await createClusterKit(kafka.brokers);
    await produce(kit, UNFIT, "p1");
    const gate = kit.startGate(POLICY, REGISTRY);
    await gate.ready();
    const callgate = await kit.connect(REGISTRY);
    const call = { conversationId: "c-ours", callId: "o1", turn: 1, step: 1, tool: "pay" };
    expect(await callgate.propose({ ...call, arguments: {} })).toMatchObject({
      outcome: "allowed",
    });
    await expect
      .poll(async () => (await run(kit, "dlq", "list")).stdout)
      .toMatch(/undecodable.*cannot be read as proposed-call.*tool/);
    expect((await registryPart(kit)).lines.join()).toMatch(/cannot be read: .*tool.*dead letters/);
  });

  it("is refused at its producer once the gate has registered, where ours cannot read it", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY, REGISTRY);
    await gate.ready();
    await expect(produce(kit, UNFIT, "p1")).rejects.toThrow(/409|[Ii]ncompatible/);
  });
});
