/** Which budgets with a name count a call, and what the conversation has spent of each. */
import { trieGet } from "../../collections/trie.ts";
import type { JsonObject } from "../canonical/json-value.ts";
import type { CountedBudget } from "../events.ts";
import type { Money } from "../inputs.ts";
import type { CompiledBudget, CompiledPolicy, CompiledTool } from "../policy/compiled.ts";
import { type Spending, UNKNOWN_SPENDING } from "../policy/conditions/spending.ts";
import { NOTHING_COUNTED, returnCall, totalsIn } from "../state/budget-totals.ts";
import { withMoney } from "../state/spent.ts";
import { type ConversationState, initialState, type OpenCall } from "../state/state.ts";
import { enterTurn } from "../state/turn.ts";
import type { Proposed } from "./draft-decision.ts";

const DAY_MS = 86_400_000;

/** The call that asks, and the state that it is judged in. */
interface Asking {
  readonly policy: CompiledPolicy;
  readonly tool: CompiledTool;
  readonly args: () => JsonObject;
  readonly estimatedCost: Money | null;
  /** The conversation after the call's turn began. */
  readonly state: Pick<ConversationState, "turn" | "totals">;
  /** Time of proposals, ms. */
  readonly nowMs: number;
  /** The call's own hold, whose reservation does not count against it. */
  readonly own: OpenCall | undefined;
}

/** What the budgets with a name say of a call. */
export interface BudgetsOfCall {
  readonly budgets: readonly CountedBudget[];
  /** What the conversation has spent of each budget, the call itself included. */
  readonly spending: Spending;
}

const NO_BUDGETS_OF_CALL: BudgetsOfCall = {
  budgets: NOTHING_COUNTED,
  spending: UNKNOWN_SPENDING,
};

/** `heldAs`: the decision that holds the call, where its hold ends; null: it is proposed. */
export function readBudgets(
  before: ConversationState | undefined,
  proposal: Proposed,
  policy: CompiledPolicy,
  { args, nowMs, heldAs }: Pick<Asking, "args" | "nowMs"> & { readonly heldAs: string | null },
): BudgetsOfCall {
  if (policy.budgets.periods.size === 0) return NO_BUDGETS_OF_CALL;
  const asking: Asking = {
    policy,
    tool: policy.tool(proposal.tool),
    args,
    estimatedCost: proposal.estimatedCost,
    state: stateOf(before, proposal, heldAs === null, nowMs),
    nowMs,
    own: heldAs === null || before === undefined ? undefined : trieGet(before.open, heldAs),
  };
  const budgets = countedBy(asking);
  return { budgets, spending: spendingOf(asking, budgets) };
}

/** The conversation that a call is judged in. */
export function stateOf(
  before: ConversationState | undefined,
  { tenantId, conversationId, turn }: Pick<Proposed, "tenantId" | "conversationId" | "turn">,
  entersTurn: boolean,
  nowMs: number,
): ConversationState {
  const conversation = before ?? initialState(tenantId, conversationId, nowMs);
  return entersTurn ? enterTurn(conversation, turn, nowMs) : conversation;
}

/** What each budget of the tool counts of the call. */
function countedBy(asking: Asking): readonly CountedBudget[] {
  const { budgets } = asking.tool;
  if (budgets.length === 0) return NOTHING_COUNTED;
  const args = asking.args();
  return budgets
    .filter((budget) => budget.counts(args))
    .map((budget) => ({
      budget: budget.name,
      period: periodOf(budget.per, asking),
      amount: budget.amountOf === null ? asking.estimatedCost : budget.amountOf(args),
      isFixed: budget.amountOf !== null,
    }));
}

function spendingOf(asking: Asking, counted: readonly CountedBudget[]): Spending {
  const { periods } = asking.policy.budgets;
  const before = asking.own?.call.more?.budgets ?? NOTHING_COUNTED;
  const all = returnCall(asking.state.totals.budgets, before);
  return (name) => {
    const per = periods.get(name);
    if (per === undefined) return null;
    const { spent, unknown } = totalsIn(all, name, periodOf(per, asking));
    const own = counted.find(({ budget }) => budget === name);
    if (own === undefined) return { amounts: spent, isExact: unknown === 0 };
    const amounts = withMoney(spent, own.amount, 1);
    return { amounts, isExact: unknown === 0 && own.amount !== null };
  };
}

function periodOf(
  per: CompiledBudget["per"],
  { state, nowMs }: Pick<Asking, "state" | "nowMs">,
): number {
  switch (per) {
    case "turn":
      return state.turn.index;
    case "day":
      return Math.floor(nowMs / DAY_MS);
    case "conversation":
      return 0;
  }
}
