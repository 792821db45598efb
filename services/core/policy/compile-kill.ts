/** The kill switch: what is refused outright, whatever else the policy says. */
import { foldedName } from "../speaker.ts";
import type { CompiledPolicy } from "./compiled.ts";
import type { PolicyDocument } from "./document.ts";
import { compileGlobs, type GlobMatcher } from "./glob.ts";
import { policyPath } from "./path.ts";

const NOT_KILLED = (): null => null;

/**
 * Tools are globs as in `deny` tiers; agents and tenants are globs of whole names. An agent's name is
 * compared without its case, edge space and letter forms: a spelling is no way past the switch.
 */
export function compileKill(kill: PolicyDocument["kill"]): CompiledPolicy["killedBy"] {
  if (kill === undefined) return NOT_KILLED;
  const tools = matchers(kill.tools, true);
  const agents = matchers(kill.agents?.map(foldedName), false);
  const tenants = matchers(kill.tenants, false);
  return ({ tool, agentId, tenantId }) => {
    if (kill.all === true) return "kill.all";
    return (
      found("tools", tools, tool) ??
      found(
        "agents",
        agents,
        agents.length === 0 || agentId === null ? null : foldedName(agentId),
      ) ??
      found("tenants", tenants, tenantId)
    );
  };
}

function matchers(globs: readonly string[] | undefined, onLastSegment: boolean): GlobMatcher[] {
  return (globs ?? []).map((glob) => compileGlobs(glob, onLastSegment));
}

function found(key: string, globs: readonly GlobMatcher[], name: string | null): string | null {
  if (name === null) return null;
  for (let at = 0; at < globs.length; at += 1) {
    if (globs[at]?.(name) === true) return policyPath(["kill", key, at]);
  }
  return null;
}
