import { describe, expect, test } from "vitest";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import type { PolicyFile } from "../../../services/adapters/policy/read-yaml.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import {
  compileGatePolicy,
  declareTools,
  type GatePolicy,
  withSecret,
} from "../../../services/gate/gate-policy.ts";

const SECRETS = new Map([["k1", new Uint8Array(32)]]);

function compiled(input: object | readonly PolicyFile[]): GatePolicy {
  const result = compileGatePolicy(loadPolicy(input), capabilities);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.policy;
}

const POLICY = {
  authorization: { tiers: [{ name: "reads", pattern: "get_*", action: "allowlist" }] },
  tool_schemas: { pay: { effects: [{ resource: "order/{order}", kind: "charge" }] } },
};

describe("a compiled policy", () => {
  test("reports each problem of compiling at its line", () => {
    const text = "tool_schemas:\n  pay:\n    input_schema: { type: wrong }\n";
    const result = compileGatePolicy(loadPolicy([{ name: "p.yaml", text }]), capabilities);
    expect(result).toMatchObject({
      ok: false,
      problems: [{ file: "p.yaml", line: 3, path: "tool_schemas.pay.input_schema" }],
    });
  });

  test("reports each problem of loading unchanged", () => {
    const loaded = loadPolicy({ budgets: { max_step: 1 } });
    expect(compileGatePolicy(loaded, capabilities)).toBe(loaded);
  });

  test("names the secret of `withSecret`, and decides the same", () => {
    const policy = compiled(POLICY);
    const keyedPolicy = withSecret(policy, "k1", SECRETS);
    expect(keyedPolicy.compiled).toMatchObject({ keyId: "k1", revision: policy.compiled.revision });
  });
});

describe("tools that a program registers", () => {
  test("become declared, under the revision of the extended document", () => {
    const policy = withSecret(compiled(POLICY), "k1", SECRETS);
    const extended = declareTools(policy, ["send_mail", "pay", "get_order"], capabilities);
    expect(policy.compiled.tool("send_mail").isDeclared).toBe(false);
    expect(extended.compiled.tool("send_mail")).toMatchObject({ isDeclared: true, isRead: false });
    expect(extended.compiled.keyId).toBe("k1");
    expect(extended.document.tool_schemas).toEqual({
      pay: policy.document.tool_schemas?.["pay"],
      send_mail: {},
    });
    const written = compiled(extended.document);
    expect(written.compiled.revision).toBe(extended.compiled.revision);
    expect(written.compiled.revision).not.toBe(policy.compiled.revision);
  });

  test("change nothing where all are declared, by entry or by tier, or where the policy declares no tools", () => {
    const policy = compiled(POLICY);
    expect(declareTools(policy, ["pay", "get_order"], capabilities)).toBe(policy);
    const open = compiled({ budgets: { max_steps: 5 } });
    expect(declareTools(open, ["anything"], capabilities)).toBe(open);
  });
});
