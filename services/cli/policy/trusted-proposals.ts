/** Rules that a writer of proposals can bypass if the gate does not require signed proposals. */
import type { BudgetLimits, PolicyDocument } from "../../core/policy/document.ts";
import type { PathSegment } from "../../core/policy/path.ts";

export type Voidable = {
  readonly path: readonly PathSegment[];
  /** The rule and how to bypass it: a sentence without a full stop. */
  readonly what: string;
};

/** Rules that rely only on what the writer of a proposal states. */
export function voidableRules(document: PolicyDocument): readonly Voidable[] {
  const { budgets, kill, authorization } = document;
  const rules: Voidable[] = [];
  const add = (path: readonly PathSegment[], what: string) => rules.push({ path, what });
  if (budgets !== undefined) {
    if (hasTurnLimit(budgets)) {
      add(["budgets"], "budgets per turn: a new `turn` in each proposal resets them");
    }
    if (hasSpendLimit(budgets)) {
      add(["budgets"], "budgets of spend: a proposal may state a lower `estimatedCost`, or none");
    }
  }
  if ((kill?.agents ?? []).length > 0) {
    add(
      ["kill", "agents"],
      "`kill.agents`: a proposal may leave out `agentId`, or name another agent",
    );
  }
  const tiers = authorization?.tiers ?? [];
  const held = tiers.findIndex(({ action }) => action === "hitl");
  if (held >= 0) {
    const what = "the ban on approving one's own call: a proposal may name another `agentId`";
    add(["authorization", "tiers", held], what);
  }
  if (hasConfirmable(document)) {
    add(
      ["tool_schemas"],
      "duplicates and exclusive effects: a made-up `confirmation` lets a call run again",
    );
  }
  return rules;
}

function hasTurnLimit(budgets: NonNullable<PolicyDocument["budgets"]>): boolean {
  const { per_conversation: _, per_tool, by_name, ...perTurn } = budgets;
  const isOfTurn = Object.values(by_name ?? {}).some(({ per }) => per === "turn");
  return isOfTurn || Object.keys(perTurn).length > 0 || Object.keys(per_tool ?? {}).length > 0;
}

function hasSpendLimit(budgets: NonNullable<PolicyDocument["budgets"]>): boolean {
  const all: readonly (BudgetLimits | undefined)[] = [
    ...[budgets, budgets.per_conversation, budgets.per_tool],
  ];
  const isStated = Object.values(budgets.by_name ?? {}).some(({ amount }) => amount === undefined);
  return isStated || all.some((limits) => limits?.max_spend !== undefined);
}

/** Any write can be confirmed; a policy of reads has nothing to confirm. */
function hasConfirmable({ tool_schemas }: PolicyDocument): boolean {
  return Object.values(tool_schemas ?? {}).some((tool) => tool.read_only !== true);
}
