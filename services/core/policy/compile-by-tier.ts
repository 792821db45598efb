/**
 * Tools whose tier depends on a call: of the tiers that match the name, the first whose condition
 * holds applies. A condition that cannot be read decides nothing: then the call is as strict as its
 * tier and what follows together.
 */
import type { JsonObject } from "../canonical/json-value.ts";
import type { CompiledJsonSchema } from "../capabilities.ts";
import type { TierCandidate } from "./compile-tiers.ts";
import type { CompiledTier, CompiledTool, TestedRule } from "./compiled.ts";
import { fillDefaults, whyUnreadable } from "./conditions/rule-condition.ts";
import type { Spending } from "./conditions/spending.ts";
import { merger, ranked } from "./merge-variants.ts";

/** One tier that a call may get, and the tool under it; a null tier: none of the policy's. */
interface Branch {
  readonly candidate: TierCandidate | null;
  readonly tool: CompiledTool;
}

/** `compileUnder` compiles the tool as if it had no tier but this one. */
export function compileByTier(
  candidates: readonly TierCandidate[],
  schema: CompiledJsonSchema | null,
  compileUnder: (candidate: TierCandidate | null, isFirst: boolean) => CompiledTool,
): CompiledTool {
  const isClosed = candidates.at(-1)?.condition === null;
  const possible = isClosed ? candidates : [...candidates, null];
  const branches: readonly Branch[] = possible.map((candidate, index) => ({
    candidate,
    tool: compileUnder(candidate, index === 0),
  }));
  const merged = merger();
  const whole = merged(branches.map(({ tool }) => ranked(tool)));
  const fill = fillDefaults(schema);
  return {
    ...whole,
    variants: [
      ...new Set(
        branches.flatMap(({ tool }) => (tool.variants.length === 0 ? [tool] : tool.variants)),
      ),
    ],
    testedRulesOf: (args, spending) => {
      const filled = fill(args);
      const [first] = choose(branches, filled, spending);
      const tiers = branches.flatMap((branch) => testedTier(branch, filled, spending));
      return [...tiers, ...(first?.tool.testedRulesOf?.(args, spending) ?? [])];
    },
    variantRulesOf: branches.every(({ tool }) => tool.variantRulesOf === null)
      ? null
      : (args, spending) =>
          choose(branches, fill(args), spending)[0]?.tool.variantRulesOf?.(args, spending) ?? [],
    commandsOf: branches.every(({ tool }) => tool.commandsOf === null)
      ? null
      : (args, spending) =>
          choose(branches, fill(args), spending)[0]?.tool.commandsOf?.(args, spending) ?? [],
    variantOf: (args, spending) => {
      const filled = fill(args);
      const chosen = choose(branches, filled, spending);
      const forms = chosen.map(({ tool }) => tool.variantOf?.(args, spending) ?? tool);
      const [only] = forms;
      if (only !== undefined && forms.length === 1) return only;
      const tool = merged(forms.map(ranked));
      if (!isStrict(tool.tier)) return tool;
      const conditions = chosen.map(({ candidate }) => candidate?.condition ?? null);
      return { ...tool, why: whyUnreadable(conditions, filled, spending) };
    },
  };
}

/** The branches that may apply; the last one does where nothing before it can be read. */
function choose(
  branches: readonly Branch[],
  args: JsonObject,
  spending: Spending,
): readonly Branch[] {
  const chosen: Branch[] = [];
  for (const branch of branches) {
    const truth = branch.candidate?.condition?.evaluate(args, spending) ?? true;
    if (truth !== false) chosen.push(branch);
    if (truth === true) return chosen;
  }
  return chosen;
}

function isStrict({ action }: CompiledTier): boolean {
  return action === "hitl" || action === "deny";
}

function testedTier(
  { candidate }: Branch,
  args: JsonObject,
  spending: Spending,
): readonly TestedRule[] {
  if (candidate?.condition === null || candidate === null) return [];
  const { condition, tier } = candidate;
  const truth = condition.evaluate(args, spending);
  return [{ name: tier.name ?? tier.rule, truth, tests: condition.explain(args, spending) }];
}
