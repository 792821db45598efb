/** The kill switch: what is refused outright, whatever else the policy says. */
import { foldedName } from "../speaker.ts";
import type { CompiledPolicy } from "./compiled.ts";
import type { PolicyDocument } from "./document.ts";
import { compileGlobs, type GlobMatcher } from "./glob.ts";
import { policyPath } from "./path.ts";
import { compileToolGlobs } from "./tool-glob.ts";

const NOT_KILLED = (): null => null;

/**
 * Tools are globs as in `deny` tiers; agents and tenants are globs of whole names. Case, outer
 * white space and letter forms do not count, so that no spelling evades the switch.
 */
export function compileKill(kill: PolicyDocument["kill"]): CompiledPolicy["killedBy"] {
  if (kill === undefined) return NOT_KILLED;
  const tools = (kill.tools ?? []).map((glob) => rememberNames(compileToolGlobs(glob, true)));
  const agents = (kill.agents ?? []).map(speakerGlobs);
  const tenants = (kill.tenants ?? []).map(speakerGlobs);
  return ({ tool, agentId, tenantId }) => {
    if (kill.all === true) return "kill.all";
    return (
      findKillRule("tools", tools, tool) ??
      findKillRule("agents", agents, agentId) ??
      findKillRule("tenants", tenants, tenantId)
    );
  };
}

function speakerGlobs(glob: string): GlobMatcher {
  const fits = compileGlobs(foldedName(glob), false);
  return rememberNames((name) => fits(foldedName(name)));
}

/** So many names that others choose are remembered. */
const REMEMBERED_NAMES = 256;

/** Asked for each call, of the same few names: to bring one into its form takes longer than a look at it. */
function rememberNames(fits: GlobMatcher): GlobMatcher {
  let judged = new Map<string, boolean>();
  return (name) => {
    const before = judged.get(name);
    if (before !== undefined) return before;
    if (judged.size >= REMEMBERED_NAMES) judged = new Map();
    const isFit = fits(name);
    judged.set(name, isFit);
    return isFit;
  };
}

function findKillRule(
  key: string,
  globs: readonly GlobMatcher[],
  name: string | null,
): string | null {
  if (name === null) return null;
  for (let at = 0; at < globs.length; at += 1) {
    if (globs[at]?.(name) === true) return policyPath(["kill", key, at]);
  }
  return null;
}
