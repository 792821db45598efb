/** What the gate must decide on each call of the scenes, on every backend. */
import type { DemoView, ShownDecision } from "./view.ts";

const times = (count: number, text: string): readonly string[] =>
  Array.from({ length: count }, () => text);

/** The policy's value: an export must not be polled more often. */
const POLL_INTERVAL_MS = 300;
const HASTY_POLL = "refused poll_export";

const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "demo-empty-document": ["allowed create_document", ...times(6, "refused create_document")],
  "demo-no-arguments": ["allowed create_document", ...times(6, "refused create_document")],
  "demo-order": [
    "allowed get_order",
    "answered get_order",
    "allowed create_invoice",
    "refused charge_card",
    "allowed charge_card",
  ],
  "demo-payment": ["allowed pay", ...times(2, "refused pay")],
  "demo-job": [
    "allowed poll_export",
    HASTY_POLL,
    ...times(2, "allowed poll_export"),
    "failed publish_page",
    "allowed set_title",
    "allowed publish_page",
  ],
  "demo-deletion": ["held delete_customer", "allowed delete_customer"],
};

type TimedDecision = Pick<ShownDecision, "kind" | "tool"> & {
  /** When this was shown, and when the decision before it was. */
  readonly atMs: number;
  readonly beforeMs: number;
};

/** Records what a view shows, and checks it. */
export class DemoRecorder {
  readonly view: DemoView;
  readonly #scenes = new Map<string, TimedDecision[]>();
  #current: TimedDecision[] = [];
  #lastMs = 0;
  #denied = false;

  constructor(view: DemoView) {
    this.view = {
      ...view,
      scene: async (number, scene) => {
        this.#current = [];
        this.#scenes.set(scene.id, this.#current);
        await view.scene(number, scene);
        this.#lastMs = performance.now();
      },
      decision: async (shown) => {
        const atMs = performance.now();
        this.#current.push({ kind: shown.kind, tool: shown.tool, atMs, beforeMs: this.#lastMs });
        this.#lastMs = atMs;
        await view.decision(shown);
      },
    };
  }

  /** The person denied the deletion. */
  denied(): void {
    this.#denied = true;
  }

  /** `count`: how many calls there should be. `deviations`: what differs, a line each. */
  judge(): { readonly count: number; readonly deviations: readonly string[] } {
    const scenes = Object.entries(EXPECTED);
    const deviations = scenes.flatMap(([id, expected]) => {
      const denies = this.#denied && id === "demo-deletion";
      const wanted = denies ? expected.map((one) => one.replace("allowed", "refused")) : expected;
      return findDeviations(id, wanted, this.#scenes.get(id) ?? []);
    });
    return { count: scenes.flatMap(([, expected]) => expected).length, deviations };
  }
}

function findDeviations(
  sceneId: string,
  wanted: readonly string[],
  decisions: readonly TimedDecision[],
): readonly string[] {
  const calls = Math.max(wanted.length, decisions.length);
  return Array.from({ length: calls }, (_, index) => index).flatMap((index) => {
    const one = decisions[index];
    const got = one === undefined ? "nothing" : `${one.kind} ${one.tool}`;
    if (got === wanted[index] || (wanted[index] === HASTY_POLL && wasSlow(decisions, index)))
      return [];
    const should = wanted[index] ?? "nothing";
    return [`${sceneId}, call ${index + 1}: \`${got}\` instead of \`${should}\``];
  });
}

/**
 * Whether the two calls were so far apart that the gate was right to allow the second. Measured
 * from before the earlier call to after the later one.
 */
function wasSlow(decisions: readonly TimedDecision[], index: number): boolean {
  const one = decisions[index];
  const before = decisions[index - 1];
  if (one?.kind !== "allowed" || before === undefined) return false;
  return one.atMs - before.beforeMs >= POLL_INTERVAL_MS;
}
