// What rules of composite tools see of a call: no other spelling of it switches one off.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import type {
  PolicyDocument,
  VariantsDocument,
} from "../../../../services/core/policy/document.ts";
import { toolOfCall } from "../../../../services/core/policy/tool-of-call.ts";
import { compiled } from "../../../support/core/compile.ts";
import { MINUTE } from "../../../support/decider-spec.ts";

const TIERS: NonNullable<PolicyDocument["authorization"]> = {
  tiers: [
    { name: "free", pattern: "nothing", action: "allowlist" },
    { name: "ask", pattern: "no-one", action: "hitl", expires_ms: MINUTE },
    { name: "never", pattern: "nobody", action: "deny" },
  ],
};

/** The tier of a call, and whether it is a read. */
function judge(variants: VariantsDocument) {
  const policy = compiled({ authorization: TIERS, tool_schemas: { it: { variants } } });
  return (args: JsonObject) => {
    const { tier, isRead } = toolOfCall(policy, "it", args);
    return [tier.name, isRead];
  };
}

describe("a pattern goes on behind the end of a line", () => {
  const rules = [{ match: "^(git )?commit .*--no-verify", tier: "never" }];

  test.each([
    ["posix_shell", "git commit -m 'Fix\n\nBody' --no-verify"],
    ["git", "commit -m 'Fix\n\nBody' --no-verify"],
  ] as const)("of %s: %j", (set, command) => {
    expect(judge({ set, rules })({ command })).toEqual(["never", false]);
  });

  test("and where there is no set", () => {
    const text = judge({ argument: "text", rules });
    expect(text({ text: "commit a\r\n--no-verify" })).toEqual(["never", false]);
    expect(text({ text: "commit a" })).toEqual([null, false]);
  });
});
