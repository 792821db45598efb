/**
 * Computes the cost of calls as the gate counts it: a later cost of a call replaces the one that
 * was reported with `unknown`, and a call that was not executed costs nothing, whatever was
 * reported before.
 */
import type { DecisionRow } from "./decision-row.ts";

/** Millionths; below 0: the amount was counted before and is subtracted. */
export type SpendChange = { readonly currency: string; readonly microUnits: number };

export type OpenCosts = readonly (readonly [decisionId: string, cost: SpendChange])[];

export type Owed = readonly (readonly [series: string, microUnits: number])[];

const NOTHING: readonly SpendChange[] = [];

/** Costs that may be replaced, because their calls have an unknown outcome. */
export class OpenCostLedger {
  readonly #costs: Map<string, SpendChange>;
  readonly #max: number;

  /**
   * @param max beyond it the oldest costs are dropped, and a later report of their calls counts in
   *   addition
   */
  constructor(max: number, costs: OpenCosts = []) {
    this.#max = max;
    this.#costs = new Map(costs);
  }

  /** How the row changes the spend: at most one amount for each currency. */
  take(row: DecisionRow): readonly SpendChange[] {
    const { kind, status, detail, decision_id: decisionId } = row;
    if (kind !== "result" && kind !== "reconciled") return NOTHING;
    // The gate counts a cost with the outcome.
    if (decisionId === null || status === "started") return NOTHING;
    const before = this.#costs.get(decisionId);
    const isUndone = status === "not_executed" || detail === "not_executed";
    const after = isUndone ? null : costOf(row);
    if (status !== "unknown") this.#costs.delete(decisionId);
    else if (after !== null) this.#keep(decisionId, after);
    if (after === null && !isUndone) return NOTHING;
    return changes(before, after);
  }

  data(): OpenCosts {
    return [...this.#costs];
  }

  #keep(decisionId: string, cost: SpendChange): void {
    this.#costs.set(decisionId, cost);
    for (const oldest of this.#costs.keys()) {
      if (this.#costs.size <= this.#max) return;
      this.#costs.delete(oldest);
    }
  }
}

function costOf({ cost_micro_units: microUnits, currency }: DecisionRow): SpendChange | null {
  return microUnits === null || currency === null ? null : { currency, microUnits };
}

function changes(
  before: SpendChange | undefined,
  after: SpendChange | null,
): readonly SpendChange[] {
  if (before === undefined) return after === null ? [] : [after];
  if (before.currency === after?.currency) {
    return [{ ...after, microUnits: after.microUnits - before.microUnits }];
  }
  const back = { ...before, microUnits: -before.microUnits };
  return after === null ? [back] : [back, after];
}

/**
 * Makes changes usable for a counter, which never falls: a subtracted amount is owed, and later
 * spend of the same series pays it off first. So the counter is the most that was ever spent.
 */
export class OwedSpend {
  readonly #owed: Map<string, number>;

  constructor(owed: Owed = []) {
    this.#owed = new Map(owed);
  }

  /** @returns by how much the counter of the series rises, in millionths */
  rise(tool: string, { currency, microUnits }: SpendChange): number {
    const series = JSON.stringify([currency, tool]);
    const rise = microUnits - (this.#owed.get(series) ?? 0);
    if (rise < 0) this.#owed.set(series, -rise);
    else this.#owed.delete(series);
    return Math.max(0, rise);
  }

  data(): Owed {
    return [...this.#owed];
  }
}
