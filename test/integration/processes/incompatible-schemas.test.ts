// A registry that contains, under our subject, a schema that ours cannot read.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { registryBackend } from "../../support/backends/registry-backend.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";
import { runCallgate } from "../../support/run-callgate.ts";
import { withField } from "../../support/wire/schema-walk.ts";

const kafka = await kafkaBackend();
const registry = await registryBackend();

const POLICY = "tool_schemas: {pay: {}}\n";

/** Topics, and a version of an output's schema that lacks what ours needs. */
async function makeUnfit() {
  const kit = await createClusterKit(kafka.brokers);
  const subject = `${kit.config.kafka.topics.allowed}-value`;
  const { "allowed-call": allowed } = readSchemaFiles().current;
  const without = withField(allowed, ["AllowedCall", "decisionId"], () => undefined);
  const made = await fetch(`${registry.url}/subjects/${subject}/versions`, {
    method: "POST",
    headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
    body: JSON.stringify({ schema: JSON.stringify(without) }),
  });
  expect(made.status).toBe(200);
  const subjects = async () => {
    const all = (await (await fetch(`${registry.url}/subjects`)).json()) as readonly string[];
    return all.filter((name) => Object.values(kit.config.kafka.topics).includes(name.slice(0, -6)));
  };
  return { kit, subject, subjects };
}

describe.skipIf(!(kafka.available && registry.available))("an incompatible schema", () => {
  test("is reported by `schemas check`, which exits with an error and changes nothing", async () => {
    const { kit, subject, subjects } = await makeUnfit();
    const config = join(makeDirectory(), "callgate.json");
    writeFileSync(config, JSON.stringify({ ...kit.config, registry: { url: registry.url } }));
    const asked = ["schemas", "check", "--config", config];
    const [text, json] = await Promise.all([runCallgate(asked), runCallgate([...asked, "--json"])]);
    expect(text).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("1 schema cannot be used with this registry"),
    });
    expect(text.stdout).toMatch(new RegExp(`^${subject} +refused`, "m"));
    expect(text.stdout).toMatch(
      new RegExp(
        `^${subject}: what was written with its version 1 cannot be read: .*decisionId`,
        "m",
      ),
    );
    expect(json.code).toBe(3);
    const { ok, subjects: reports } = JSON.parse(json.stdout);
    expect(ok).toBe(false);
    const refused = reports.filter(({ state }: { state: string }) => state === "refused");
    expect(refused).toEqual([
      expect.objectContaining({
        subject,
        name: "allowed-call",
        id: null,
        problems: expect.any(Array),
      }),
    ]);
    expect(refused[0].problems.join()).toContain("its version 1 cannot be read");
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { exitCode: 3 } });
    expect(await subjects()).toEqual([subject]);
  });

  test.each([false, true])("keeps a gate from starting, registering: %s", async (register) => {
    const { kit, subject } = await makeUnfit();
    const gate = kit.startGate(POLICY, { registry: { url: registry.url, register } });
    const ended = await gate.line("started").catch(() => gate.ended);
    expect(ended).toEqual({ code: 3, signal: null });
    expect(gate.stderr).toContain("the schema registry does not match: ");
    expect(gate.stderr).toContain(`${subject}: what was written with its version 1 cannot be read`);
  });
});
