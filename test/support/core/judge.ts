/** The result of a tool's rules for a call, under tiers that match no tool name by themselves. */
import type { JsonObject } from "../../../services/core/canonical/json-value.ts";
import { toolOfCall } from "../../../services/core/policy/compiled.ts";
import type { CommandsDocument, PolicyDocument } from "../../../services/core/policy/document.ts";
import { MINUTE } from "../decider-spec.ts";
import { compiled } from "./compile.ts";

export const TIERS: NonNullable<PolicyDocument["authorization"]> = {
  tiers: [
    { name: "free", pattern: "nothing", action: "allowlist" },
    { name: "ask", pattern: "no-one", action: "hitl", expires_ms: MINUTE },
    { name: "never", pattern: "nobody", action: "deny" },
  ],
};

/** The compiled tool of a call. */
export function toolFor(commands: CommandsDocument) {
  const policy = compiled({ authorization: TIERS, tool_schemas: { it: { commands } } });
  return (args: JsonObject) => toolOfCall(policy, "it", args);
}

/** The tier of a call, and whether it is a read. */
export function judge(commands: CommandsDocument) {
  const toolOf = toolFor(commands);
  return (args: JsonObject) => {
    const { tier, isRead } = toolOf(args);
    return [tier.name, isRead];
  };
}
