import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runGate } from "../../../services/gate/main.ts";
import { makeDirectory } from "../../support/open-gate.ts";

test("a gate without a state store does not accept a bound on its bytes", async () => {
  const directory = makeDirectory();
  const file = join(directory, "config.yaml");
  writeFileSync(join(directory, "policy.yaml"), "tool_schemas: {}\n");
  const config = {
    kafka: { brokers: ["127.0.0.1:1"] },
    policy: { files: ["policy.yaml"] },
    secret: { value: "a secret that is long enough" },
    limits: { stateBytes: 1_000 },
  };
  writeFileSync(file, JSON.stringify(config));
  await expect(runGate(file, { write: async () => undefined })).rejects.toThrow(
    "limits.stateBytes: the gate has no state store to measure",
  );
});
