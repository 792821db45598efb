import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { lintPolicy } from "../../../../services/cli/policy/lint.ts";
import { capabilities } from "../../../../services/gate/capabilities.ts";
import { compileGatePolicy } from "../../../../services/gate/gate-policy.ts";

const DIRECTORY = new URL("../../../../infra/policies/templates/", import.meta.url);

/** The cases for `policy test` are in the same folder. */
const POLICIES = readdirSync(DIRECTORY).filter((name) => !name.endsWith(".test.yaml"));

describe("the policy templates", () => {
  it("exist for four kinds of agents", () => {
    expect(POLICIES).toEqual([
      "coding-agent.yaml",
      "mcp-server.yaml",
      "payments.yaml",
      "support-agent.yaml",
    ]);
  });

  it.each(POLICIES)("compile without findings: %s", (name) => {
    const loaded = loadPolicy([{ name, text: readFileSync(new URL(name, DIRECTORY), "utf8") }]);
    expect(loaded.ok ? [] : loaded.problems).toEqual([]);
    expect(compileGatePolicy(loaded, capabilities).ok).toBe(true);
    if (!loaded.ok) return;
    const findings = lintPolicy(loaded.document, loaded.source);
    expect(findings.filter(({ severity }) => severity !== "info")).toEqual([]);
  });
});
