/** Suggests what to call instead: only tools that the policy declares and does not deny. */
import type { CallContext } from "../checks/check.ts";
import type { CompiledTool } from "../policy/compiled.ts";

/** The most names to suggest. */
const MOST = 5;

export function suggestNext({ tool, policy, proposal }: CallContext): readonly string[] {
  const names = tool.suggest.length > 0 ? tool.suggest : policy.readersOf(tool.name);
  if (names.length === 0) return names;
  const { agentId, tenantId } = proposal;
  return names
    .filter((name) => isCallable(policy.tool(name)))
    .filter((name) => policy.killedBy({ tool: name, agentId, tenantId }) === null)
    .slice(0, MOST);
}

function isCallable(tool: CompiledTool): boolean {
  return tool.isDeclared && tool.tier.action !== "deny";
}
