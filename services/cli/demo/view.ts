/** The demo's output: text for people, or JSON lines. */
import type { World } from "./world.ts";

export interface SceneTitle {
  /** Also the id of the scene's conversation. */
  readonly id: string;
  /** What the agent is doing. */
  readonly title: string;
  /** What would have happened without the gate. */
  readonly without: string;
}

export type ShownKind = "allowed" | "failed" | "answered" | "refused" | "held";

/** The outcome of one call. `words` are for people who have never heard of this project. */
export interface ShownDecision {
  readonly kind: ShownKind;
  readonly tool: string;
  readonly args: object;
  readonly reason: string | null;
  readonly words: string;
}

export type Totals = Readonly<Record<ShownKind, number>>;

export interface DemoView {
  readonly start: () => Promise<void>;
  readonly scene: (number: number, scene: SceneTitle) => Promise<void>;
  readonly decision: (shown: ShownDecision) => Promise<void>;
  /** A remark between two calls. */
  readonly say: (text: string) => Promise<void>;
  /** The message that the model gets for a refusal. */
  readonly message: (text: string) => Promise<void>;
  readonly end: (summary: DemoSummary) => Promise<void>;
}

export interface DemoSummary {
  readonly totals: Totals;
  readonly world: World;
  /** Where the files are and what to try next, a line each. */
  readonly next: readonly string[];
}

/** JSON for reading, without quotes around names. */
export function shortJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${name}: ${JSON.stringify(member)}`,
  );
  return `{${members.join(", ")}}`;
}
