/** Calls that two policies decide differently, counted by rule and tool. Memory is bounded. */
import type { DecisionEvent } from "../../core/events.ts";

export type Example = {
  readonly location: string;
  readonly callId: string;
  /** The beginning of the canonical arguments. */
  readonly arguments: string;
};

export type Change = {
  /**
   * Path of the rule that refuses or holds the call: in the candidate policy, else in the other.
   */
  readonly rule: string;
  readonly tool: string;
  readonly before: string;
  readonly after: string;
  readonly calls: number;
  /** How many of these calls are the first difference in their conversation. */
  readonly first: number;
  readonly examples: readonly Example[];
};

const CHANGES_MAX = 1_000;
const EXAMPLES_MAX = 3;
const ARGUMENTS_CHARACTERS = 200;
const OTHERS = "(others)";

type Counted = { -readonly [K in keyof Change]: Change[K] } & { readonly examples: Example[] };

export class Changes {
  readonly #byKey = new Map<string, Counted>();
  #decisions = 0;
  #changed = 0;
  #conversations = 0;
  #conversationsChanged = 0;

  addConversation(): void {
    this.#conversations += 1;
  }

  /**
   * `earlier`: the conversation had changed before this call. Returns true if the decisions differ.
   */
  add(before: DecisionEvent, after: DecisionEvent, location: string, earlier: boolean): boolean {
    this.#decisions += 1;
    const [was, is] = [decisionText(before), decisionText(after)];
    if (was === is) return false;
    this.#changed += 1;
    if (!earlier) this.#conversationsChanged += 1;
    const counted = this.#countedFor(
      ruleOf(after) ?? ruleOf(before) ?? "",
      after.call.tool,
      was,
      is,
    );
    counted.calls += 1;
    if (!earlier) counted.first += 1;
    // Changes that follow from earlier changes explain little.
    if (counted.examples.length < EXAMPLES_MAX && (!earlier || counted.first === 0)) {
      const {
        call: { callId },
      } = after;
      const text = after.arguments.text.slice(0, ARGUMENTS_CHARACTERS);
      counted.examples.push({ location, callId, arguments: text });
    }
    return true;
  }

  get totals() {
    return {
      decisions: this.#decisions,
      changed: this.#changed,
      conversations: this.#conversations,
      conversationsChanged: this.#conversationsChanged,
    };
  }

  /** The most frequent first. */
  get list(): readonly Change[] {
    return [...this.#byKey.values()].sort(
      (a, b) => b.first - a.first || b.calls - a.calls || (keyOf(a) < keyOf(b) ? -1 : 1),
    );
  }

  #countedFor(rule: string, tool: string, before: string, after: string): Counted {
    const wanted = { rule, tool, before, after };
    const isFull = !this.#byKey.has(keyOf(wanted)) && this.#byKey.size >= CHANGES_MAX;
    const group = isFull ? { rule: OTHERS, tool: OTHERS, before: "", after: "" } : wanted;
    const existing = this.#byKey.get(keyOf(group));
    if (existing !== undefined) return existing;
    const made: Counted = { ...group, calls: 0, first: 0, examples: [] };
    this.#byKey.set(keyOf(group), made);
    return made;
  }
}

function keyOf({ rule, tool, before, after }: Pick<Change, "rule" | "tool" | "before" | "after">) {
  return JSON.stringify([rule, tool, before, after]);
}

function decisionText(decision: DecisionEvent): string {
  return decision.type === "refused" ? `refused ${decision.refusal.reason}` : decision.type;
}

function ruleOf(decision: DecisionEvent): string | null {
  if (decision.type === "refused") return decision.refusal.rule;
  return decision.type === "held" ? decision.rule : null;
}
