/** The label of a tool in the numbers: from a bounded set, and only of declared tools. */
import type { DecisionRow } from "./decision-row.ts";

const OTHER_TOOLS = "(other)";
/** An agent may make up any number of names. */
const UNKNOWN_TOOL = "(unknown)";

export class ToolLabels {
  readonly #names: Set<string>;
  readonly #max: number;

  /** @param max names that get a label of their own; later ones share one */
  constructor(max: number, names: readonly string[] = []) {
    this.#max = max;
    this.#names = new Set(names);
  }

  /** Empty where the row concerns no tool. */
  of(row: DecisionRow): string {
    const { tool } = row;
    if (tool === null) return "";
    if (row.reason === "unknown_tool") return UNKNOWN_TOOL;
    if (this.#names.has(tool)) return tool;
    if (!isDeclared(row)) return UNKNOWN_TOOL;
    if (this.#names.size >= this.#max) return OTHER_TOOLS;
    this.#names.add(tool);
    return tool;
  }

  data(): readonly string[] {
    return [...this.#names];
  }
}

/**
 * Whether the row shows that the policy declares the tool. A call may be refused before that is
 * checked, for example where its arguments cannot be parsed.
 */
function isDeclared({ kind, tier }: DecisionRow): boolean {
  return kind !== "refused" || tier !== null;
}
