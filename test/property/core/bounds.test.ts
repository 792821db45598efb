// A conversation that never ends takes no more memory than the bounds in `limits.ts` allow.
import { describe, expect, test } from "vitest";
import { trieEntries } from "../../../services/collections/trie.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import { LIMITS } from "../../../services/core/limits.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { SKETCH_SIZE } from "../../../services/core/similarity/sketch.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { stateText } from "../../support/core/state-text.ts";
import { MINUTE, type Story, startStory } from "../../support/decider-spec.ts";
import { Random } from "../../support/simulation/random.ts";

const CALLS = 20_000;
const SEED = 7;

const DOCUMENT: PolicyDocument = {
  conversation: { max_age_ms: 365 * 86_400_000 },
  deduplication: { window_ms: 30 * MINUTE, max_history: 16 },
  limits: { output_bytes: 65_536 },
  unknown_tools: "allow",
  edges: { contains: [["shelf/{id}", "thing/{id}"]] },
  authorization: {
    tiers: [
      { name: "ask", pattern: "ask", action: "hitl", expires_ms: 10 * MINUTE },
      {
        name: "rate",
        pattern: "get_*",
        action: "allowlist",
        rate_limit: { count: 50, windowMs: MINUTE },
      },
      { name: "few", pattern: "put_*", action: "per_conversation_grant", ceiling: 1_000_000 },
    ],
  },
  tool_schemas: {
    look: { read_only: true },
    write: { similarity: [{ field: "text", threshold: 0.8, with: ["id"] }] },
    make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    set: { effects: [{ resource: "thing/{id}", kind: "update" }] },
    drop: { effects: [{ resource: "thing/{id}", kind: "delete" }] },
    poll: { polling: { max_calls: 3 } },
  },
};

const TOOLS = ["look", "look", "write", "make", "set", "drop", "poll", "ask", "get_x", "put_x"];

interface Sizes {
  readonly of: Readonly<Record<string, readonly [size: number, most: number]>>;
  readonly bytes: number;
}

function sizes(state: ConversationState): Sizes {
  const { retained, loose, priorReads, priorWrites, writes, recentCalls } = state;
  const of = {
    retained: [retained.size, LIMITS.callNames],
    loose: [loose.size, LIMITS.callNames],
    retainedBytes: [retained.bytes, LIMITS.callNameBytes + 100_000],
    looseBytes: [loose.bytes, LIMITS.callNameBytes + 100_000],
    priorReads: [priorReads.size, LIMITS.priorReads],
    priorReadBytes: [priorReads.bytes, LIMITS.priorReadBytes],
    priorWrites: [priorWrites.size, LIMITS.priorWrites],
    priorWriteBytes: [priorWrites.bytes, LIMITS.priorWriteBytes],
    resources: [writes.byResource.size, LIMITS.resources],
    queued: [priorWrites.index?.queued ?? 0, 2 * LIMITS.priorWrites + 17],
    effects: [state.effects.size, LIMITS.exclusiveEffects],
    // The resource has two ancestors: that of its path and that of the edge, which has one more.
    effectIndex: [partsOf(state), 3 * LIMITS.exclusiveEffects],
    sketches: [state.sketches.size, LIMITS.sketches],
    sketchesQueued: [state.sketches.index?.queued ?? 0, 2 * LIMITS.sketches + 17],
    sketchBytes: [state.sketches.bytes, LIMITS.sketches * 8 * SKETCH_SIZE],
    open: [state.open.size, LIMITS.openCalls],
    recentCalls: [recentCalls.length, 16],
    strikes: [state.strikes.length, LIMITS.strikes],
    tools: [state.tools.size, LIMITS.counters],
    rates: [state.rates.size, LIMITS.counters],
    grants: [state.grants.size, LIMITS.counters],
    confirmations: [state.confirmations.size, LIMITS.confirmations],
  } as const;
  return { of, bytes: stateText(state).length };
}

function partsOf({ effectIndex }: ConversationState): number {
  return [...trieEntries(effectIndex.parts)].reduce((sum, [, parts]) => sum + parts.size, 0);
}

function answers(story: Story, random: Random, event: GateEvent | undefined): void {
  if (event?.type === "held") {
    if (random.chance(0.5)) story.approved(event);
    return;
  }
  if (event?.type !== "allowed" || random.chance(0.05)) return;
  const output = random.chance(0.02) ? "y".repeat(60_000) : `out ${random.integer(0, 1_000)}`;
  const status = random.pick([
    "succeeded",
    "succeeded",
    "failed",
    "not_executed",
    "unknown",
  ] as const);
  const error = status === "failed" ? { code: "503", message: "busy", retryable: null } : null;
  story.reported(event, { status, output: status === "succeeded" ? output : null, error });
}

/** One call and its outcome; now and then another turn, a tick, some time. */
function lives(story: Story, random: Random, n: number): void {
  const tool = random.chance(0.02) ? `unheard_of_${n}` : random.pick(TOOLS);
  const id = random.chance(0.5) ? random.integer(0, 50) : n;
  const confirmation = random.chance(0.1) ? `confirmation ${n}` : null;
  // Long turns too: the collections of a turn must reach their bounds.
  const turn = random.chance(n < CALLS / 2 ? 0.9 : 0.999) ? undefined : `turn ${n}`;
  const name = { confirmation, ...(turn === undefined ? {} : { turn }) };
  const text = tool === "write" ? { text: `page ${n} `.repeat(random.integer(0, 400)) } : {};
  const [event] = story.when(story.proposal(tool, { id, ...text }, name));
  answers(story, random, event);
  if (n % 20 === 0) story.ticked();
  story.after(random.integer(0, 4_000));
}

describe.each(["observe", "balanced"] as const)("under %s", (preset) => {
  test(`${CALLS} calls of one conversation keep every bound and stop growing`, () => {
    const story = startStory({ ...DOCUMENT, preset });
    const random = new Random(SEED);
    const measured: Sizes[] = [];
    for (let n = 0; n < CALLS; n += 1) {
      lives(story, random, n);
      story.journal.length = 0;
      if (n % 1_000 === 999) measured.push(sizes(story.state as ConversationState));
    }
    const over = measured.flatMap(({ of }, at) =>
      Object.entries(of).flatMap(([what, [size, most]]) =>
        size > most ? [`${what} ${size} > ${most} after ${(at + 1) * 1_000} calls`] : [],
      ),
    );
    expect(over, `seed ${SEED}`).toEqual([]);
    const bytes = measured.map((one) => one.bytes);
    const early = Math.max(...bytes.slice(0, 10));
    expect(Math.max(...bytes.slice(10))).toBeLessThan(early * 1.5);
  });
});
