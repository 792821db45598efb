// A budget with a name counts exactly the calls that ran or may still run, whatever came of the others.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallAllowed } from "../../../services/core/events.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { restoreState, snapshotState } from "../../../services/core/state/snapshot.ts";
import { HOUR, type Story, startStory } from "../../support/decider-spec.ts";

const CALLS_MAX = 5;
const SPEND_MAX = 100;

type Period = "turn" | "conversation" | "day";

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ pay: fc.integer({ min: 0, max: 60 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      ends: fc.constantFrom("succeeded", "harmless", "failed", "not_executed", "unknown"),
      call: fc.nat(9),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      settles: fc.constantFrom("succeeded", "failed", "not_executed"),
      call: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ passes: fc.constantFrom(1, 7, 25) }) },
  { weight: 1, arbitrary: fc.record({ restarts: fc.constant(true) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Paid {
  readonly decision: CallAllowed;
  readonly amount: number;
  readonly period: number;
  status: "open" | "doubtful" | "ended";
  counts: boolean;
  spends: boolean;
}

function policy(per: Period): PolicyDocument {
  const limits = {
    max_tool_calls: CALLS_MAX,
    max_spend: { amount: `${SPEND_MAX}`, currency: "EUR" },
  };
  const b = { tools: "pay", amount: "amount", amounts_in: "EUR", per, ...limits };
  return {
    conversation: { idle_ms: 90 * HOUR, max_age_ms: 900 * HOUR },
    checks: { failure_run: "off" },
    budgets: { by_name: { b } },
    tool_schemas: { pay: { read_only: false, repeatable: true } },
  };
}

/** Plays steps, and counts beside the gate. */
class Ledger {
  readonly #story: Story;
  readonly #per: Period;
  readonly #paid: Paid[] = [];
  #turn = 1;
  #n = 0;

  constructor(per: Period) {
    this.#per = per;
    this.#story = startStory(policy(per));
  }

  play(one: Step): void {
    this.#n += 1;
    if ("pay" in one) this.#pay(one.pay);
    else if ("ends" in one) this.#end(one.ends, this.#pick("open", one.call));
    else if ("settles" in one) this.#settle(one.settles, this.#pick("doubtful", one.call));
    else if ("passes" in one) this.#pass(one.passes);
    else this.#restart();
  }

  get #period(): number {
    if (this.#per === "day") return Math.floor(this.#story.nowMs / (24 * HOUR));
    return this.#per === "turn" ? this.#turn : 0;
  }

  #pick(status: Paid["status"], index: number): Paid | undefined {
    const all = this.#paid.filter((one) => one.status === status);
    return all[index % Math.max(1, all.length)];
  }

  #pay(amount: number): void {
    const period = this.#period;
    const own = this.#paid.filter((one) => one.period === period);
    const calls = own.filter(({ counts }) => counts).length;
    const spent = own.reduce((sum, one) => sum + (one.spends ? one.amount : 0), 0);
    const expected =
      calls >= CALLS_MAX ? "budget_calls" : spent + amount > SPEND_MAX ? "budget_spend" : "allowed";
    const event = this.#story.proposed("pay", { amount, n: this.#n });
    expect(event.type === "refused" ? event.refusal.reason : event.type).toBe(expected);
    if (event.type !== "allowed") return;
    const status = "open";
    this.#paid.push({ decision: event, amount, period, status, counts: true, spends: true });
  }

  #end(ends: "succeeded" | "harmless" | "failed" | "not_executed" | "unknown", call?: Paid): void {
    if (call === undefined) return;
    const error = { code: "E", message: `no ${this.#n}`, retryable: null };
    if (ends === "harmless") {
      this.#story.reported(call.decision, { status: "failed", effect: "none", error });
    } else {
      const more = ends === "failed" ? { error } : {};
      this.#story.reported(call.decision, { status: ends, ...more });
    }
    call.status = ends === "unknown" || ends === "failed" ? "doubtful" : "ended";
    call.counts = ends !== "not_executed";
    call.spends = ends !== "not_executed" && ends !== "harmless";
  }

  #settle(outcome: "succeeded" | "failed" | "not_executed", call?: Paid): void {
    if (call === undefined) return;
    expect(this.#story.reconciled(call.decision, outcome).type).toBe("reconciled");
    call.status = "ended";
    call.counts = outcome !== "not_executed";
    call.spends = outcome === "succeeded";
  }

  #pass(hours: number): void {
    this.#turn += 1;
    this.#story.after(hours * HOUR).turn(String(this.#turn));
  }

  #restart(): void {
    const { state } = this.#story;
    if (state === undefined) return;
    this.#story.state = restoreState(JSON.parse(JSON.stringify(snapshotState(state))));
  }
}

test.each(["turn", "conversation", "day"] as const)("for each %s", (per) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const ledger = new Ledger(per);
      for (const one of steps) ledger.play(one);
    }),
    { numRuns: 300 },
  );
});
