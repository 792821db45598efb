// Reaches the real bounds: where nothing may be forgotten, new writes are refused; elsewhere the
// gate makes room.
import { describe, expect, test } from "vitest";
import { emptyLedger, ledgerEntries, NO_END } from "../../../../services/collections/ledger.ts";
import { trieDelete, trieEntries, trieSet } from "../../../../services/collections/trie.ts";
import { LIMITS } from "../../../../services/core/limits.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import {
  HOUR,
  MINUTE,
  ofType,
  only,
  SECOND,
  type Story,
  startStory,
} from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  deduplication: { window_ms: 30 * MINUTE },
  idempotency: { ttl_ms: MINUTE },
  tool_schemas: {
    look: { read_only: true },
    write: {},
    set: { effects: [{ resource: "thing/{id}", kind: "update" }] },
    make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    pair: {
      effects: [
        { resource: "left/{id}", kind: "update" },
        { resource: "right/{id}", kind: "update" },
      ],
    },
  },
};

function fill(story: Story, tool: string, count: number): void {
  for (let id = 0; id < count; id += 1) story.done(tool, { id }, `${id}`);
}

describe("history_full", () => {
  test("refuses writes and reads while too many calls have no result", () => {
    const story = startStory(POLICY);
    for (let id = 0; id < LIMITS.openCalls; id += 1) story.allowed("write", { id });
    for (const tool of ["write", "look"]) {
      const { refusal, strike } = story.refused(tool, { id: "more" });
      expect(refusal).toMatchObject({
        reason: "history_full",
        rule: "limits",
        disposition: "ask_user",
      });
      expect(refusal.message).toContain("calls without a result");
      expect(strike).toBeNull();
    }
    story.reported(story.journal[0] as never, { output: "done" });
    story.allowed("look");
  });

  test("refuses writes, not reads, while every remembered write is within its window", () => {
    const story = startStory(POLICY);
    fill(story, "write", LIMITS.priorWrites);
    expect(story.refused("write", { id: "more" }).refusal.message).toContain("as many writes");
    story.allowed("look");
    const event = story.after(30 * MINUTE).allowed("write", { id: "more" });
    expect(event.conversation.evicted?.writes ?? []).toHaveLength(1);
  });

  test("refuses writes while neither decisions nor forgotten names have room", () => {
    const story = startStory(POLICY);
    for (let written = 0; written < LIMITS.callNames; written += LIMITS.priorWrites) {
      for (let id = 0; id < LIMITS.priorWrites; id += 1) story.done("write", { id: written + id });
      story.after(30 * MINUTE);
    }
    const { state } = story;
    if (state === undefined) throw new Error("no state");
    let { forgotten } = state;
    for (let n = forgotten.size; n < LIMITS.forgottenNames; n += 1) {
      forgotten = trieSet(forgotten, `${n}`, true);
    }
    story.state = { ...state, forgotten };
    expect(story.refused("write", { id: "more" }).refusal.message).toContain("call names");
    const [[first = ""] = []] = trieEntries(forgotten);
    story.state = { ...state, forgotten: trieDelete(forgotten, first) };
    story.allowed("write", { id: "one more" });
  });

  test("never drops a write whose outcome is unknown", () => {
    const story = startStory(POLICY);
    story.reported(story.allowed("write", { id: "first" }), { status: "unknown" });
    fill(story, "write", LIMITS.priorWrites - 1);
    story.after(30 * MINUTE).done("write", { id: "more" });
    expect(story.reason("write", { id: "first" })).toBe("outcome_unknown");
  });

  test("refuses writes while every changed resource is within its window", () => {
    const story = startStory(POLICY);
    fill(story, "pair", LIMITS.resources / 2 - 1);
    story.done("set", { id: "but one" });
    story.done("set", { id: "last" });
    expect(story.refused("set", { id: "more" }).refusal.message).toContain("changed resources");
  });

  test("refuses writes until exactly the end of the first window", () => {
    const story = startStory({ ...POLICY, idempotency: { ttl_ms: HOUR } });
    fill(story, "pair", LIMITS.resources / 2);
    expect(story.after(30 * MINUTE - 1).reason("pair", { id: "more" })).toBe("history_full");
    expect(story.after(1).done("set", { id: "more" }).conversation.evicted?.resources).toHaveLength(
      1,
    );
    expect(story.state?.writes.byResource.size).toBe(LIMITS.resources);
  });

  test("retains the name of a write whose decision was dropped, and gives it to no other call", () => {
    const story = startStory({ ...POLICY, deduplication: { window_ms: SECOND } });
    const first = story.proposal("write", { id: "first" });
    story.reported(ofType(only(story.when(first)), "allowed"), { output: "done" });
    for (let id = 1; id < LIMITS.callNames; id += 1) {
      story.done("write", { id }, null);
      if (id % 1_000 === 999) story.after(SECOND);
    }
    expect(story.when(first)).toMatchObject([{ type: "repeated" }]);
    for (let id = 0; id < LIMITS.callNames; id += 1) story.done("look", { id }, `${id}`);
    expect(story.when(first)).toMatchObject([{ type: "repeated" }]);
    story.done("write", { id: "more" });
    const refused = { type: "refused", refusal: { reason: "call_id_conflict" } };
    expect(story.when(first)).toMatchObject([refused]);
    expect(story.when({ ...first, arguments: '{"id":"other"}' })).toMatchObject([refused]);
    expect(story.state?.forgotten.size).toBe(1);
  });

  test("refuses writes while exclusive effects have reached their bound", () => {
    const story = startStory({ ...POLICY, deduplication: { window_ms: 1 } });
    for (let id = 0; id < LIMITS.exclusiveEffects; id += 1) {
      if (id % 1_000 === 0) story.after(HOUR);
      story.done("make", { id }, null);
    }
    expect(story.refused("write").refusal.message).toContain("exclusive effects");
  });
});

describe("tools with a budget of their own", () => {
  const many: PolicyDocument = {
    budgets: { per_tool: { max_tool_calls: 2 } },
    authorization: { tiers: [{ name: "reads", pattern: "get_*", action: "allowlist" }] },
  };
  const fillTools = (story: Story): void => {
    for (let id = 0; id < LIMITS.counters; id += 1) story.done(`get_${id}`, {}, `${id}`);
  };

  test("are refused beyond the bound, where they could not be counted", () => {
    const story = startStory(many);
    fillTools(story);
    expect(story.reason("get_more")).toBe("history_full");
    story.done("get_0", { id: 1 }, "again");
    expect(story.reason("get_0", { id: 2 })).toBe("budget_calls");
  });

  test("are not bounded where no tool has a budget of its own", () => {
    const story = startStory({ authorization: many.authorization ?? {} });
    fillTools(story);
    story.allowed("get_more");
    expect(story.state?.tools.size).toBe(LIMITS.counters);
  });

  test("make room for those of the next turn", () => {
    const story = startStory(many);
    fillTools(story);
    story.turn("2").done("get_more", { id: 1 }, "a");
    story.done("get_more", { id: 2 }, "b");
    expect(story.reason("get_more", { id: 3 })).toBe("budget_calls");
  });
});

describe("the gate makes room", () => {
  test("by dropping the least recently used reads", () => {
    const story = startStory(POLICY);
    fill(story, "look", LIMITS.priorReads);
    story.reason("look", { id: 0 });
    const event = story.allowed("look", { id: "more" });
    expect(event.conversation.evicted?.reads).toHaveLength(1);
    expect(story.reason("look", { id: 0 })).toBe("duplicate_call");
    story.allowed("look", { id: 1 });
  });

  test("by dropping the oldest names of reads and refusals", () => {
    const story = startStory(POLICY);
    const first = story.proposal("nobody", { id: "first" });
    story.when(first);
    for (let id = 1; id < LIMITS.callNames; id += 1) story.done("look", { id }, `${id}`);
    expect(story.when(first)).toMatchObject([{ type: "repeated" }]);
    story.done("look");
    expect(story.state?.loose.size).toBe(LIMITS.callNames);
    expect(story.when(first)).toMatchObject([{ type: "refused" }]);
  });

  test("by dropping outputs of reads beyond their bytes", () => {
    const story = startStory({ ...POLICY, limits: { output_bytes: LIMITS.outputBytesMax } });
    const output = "x".repeat(LIMITS.outputBytesMax);
    for (let id = 0; id < 20; id += 1) story.done("look", { id }, `${id}${output.slice(4)}`);
    expect(story.state?.priorReads.bytes).toBeLessThanOrEqual(LIMITS.priorReadBytes);
    story.allowed("look", { id: 0 });
    expect(story.reason("look", { id: 19 })).toBe("duplicate_call");
  });

  test("without dropping outputs of writes that exactly fill their bytes", () => {
    const story = startStory({ ...POLICY, limits: { output_bytes: LIMITS.outputBytesMax } });
    const output = "x".repeat(LIMITS.outputBytesMax - 2);
    for (let id = 10; id < 26; id += 1) story.done("write", { id }, `${id}${output}`);
    expect(story.state?.priorWrites.bytes).toBe(4_194_304);
    story.done("write", { id: "more" }, "y");
    expect(story.state?.priorWrites.bytes).toBe(4_194_304);
  });

  test("by storing only the digest of a write's output beyond their bytes", () => {
    const story = startStory({ ...POLICY, limits: { output_bytes: LIMITS.outputBytesMax } });
    const output = "x".repeat(LIMITS.outputBytesMax - 8);
    for (let id = 0; id < 20; id += 1) story.done("write", { id }, `${id}${output}`);
    story.done("set", { id: 1 }, `last ${output}`);
    expect(story.state?.priorWrites.bytes).toBeLessThanOrEqual(LIMITS.priorWriteBytes);
    expect(story.refused("set", { id: 1 }).refusal.previousResult).toMatchObject({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      ref: expect.any(String),
    });
  });
});

test("written resources are remembered after the last window, for the loop checks", () => {
  const story = startStory(POLICY);
  fill(story, "set", 500);
  story.after(HOUR).done("set", { id: "later" });
  expect(story.state?.writes.byResource.size).toBe(501);
});

test("the state keeps its bounds even where history_full is not enforced", () => {
  const story = startStory({ ...POLICY, preset: "observe" });
  for (let id = 0; id < LIMITS.openCalls + 10; id += 1) story.allowed("write", { id });
  expect(story.state?.open.size).toBe(LIMITS.openCalls);
  const last = story.allowed("write", { id: "last" });
  expect(last.notices.shadow.map(({ reason }) => reason)).toContain("history_full");
  expect(story.reported(last, {})).toMatchObject({ type: "ignored", why: "unknown_call" });
  const endless = [...ledgerEntries(story.state?.priorWrites ?? emptyLedger<never>())].filter(
    ({ dropAt }) => dropAt === NO_END,
  );
  expect(endless).toHaveLength(LIMITS.openCalls);
  const observed = startStory({ ...POLICY, preset: "observe" });
  fill(observed, "set", LIMITS.priorWrites + 10);
  expect(observed.state?.priorWrites.size).toBe(LIMITS.priorWrites);
  expect(observed.state?.writes.byResource.size).toBeLessThanOrEqual(LIMITS.resources);
});

test("a hold for which there is no room does not stop the clock of a budget", () => {
  const tiers = [{ name: "ask", pattern: "ask", action: "hitl" }] as const;
  const checks = { history_full: "shadow" } as const;
  const story = startStory({ authorization: { tiers }, checks, tool_schemas: { write: {} } });
  for (let id = 0; id < LIMITS.openCalls; id += 1) story.allowed("write", { id });
  story.held("ask");
  expect(story.state?.heldTime).toEqual({ totalMs: 0, sinceMs: null });
});
