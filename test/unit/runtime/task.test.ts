import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FencedError, StateCorruptError } from "../../../services/runtime/errors.ts";
import type {
  CommitBatch,
  CommitOutcome,
  MetricName,
  Metrics,
  Ownership,
} from "../../../services/runtime/ports.ts";
import type { TaskStatus } from "../../../services/runtime/task-context.ts";
import { DAY_MS, RuntimeKit, until } from "../../support/runtime-kit.ts";
import { HOLD_MS } from "../../support/simulation/engines.ts";

let kit: RuntimeKit;

beforeEach(() => {
  kit = new RuntimeKit();
});

afterEach(() => kit.close());

/** Ownership whose commits end as scripted, and succeed after that. */
function scripted(outcomes: ("done" | "unknown" | "lost" | "oversize")[]): Ownership {
  const error = new Error("scripted");
  return {
    takeOver: async (partition) => {
      const writer = await kit.log.takeOver(partition);
      return {
        ...writer,
        commit: async (batch): Promise<CommitOutcome> => {
          const outcome = outcomes.shift() ?? "done";
          if (outcome === "oversize") return { type: "failed", oversize: true, error };
          if (outcome === "lost") return { type: "unknown", error };
          const committed = await writer.commit(batch);
          return outcome === "unknown" ? { type: "unknown", error } : committed;
        },
      };
    },
  };
}

describe("a stream task", () => {
  it("decides waiting and new inputs, and reports each record once", async () => {
    await kit.propose();
    kit.start();
    await kit.journaled(1);
    await kit.propose();
    await kit.propose();
    await kit.journaled(3);
    await until(() => kit.committed.length === 3);
    expect(kit.committed.map(({ record }) => record.seq)).toEqual([1, 2, 3]);
    expect(kit.committed.map(({ offset }) => offset)).toEqual([0, 1, 2]);
    expect(await kit.values("allowed")).toHaveLength(3);
  });

  it("counts decisions, dead letters, idle records, and checkpoints that do not fit", async () => {
    const counts: Partial<Record<MetricName, number>> = {};
    const count = (name: MetricName, amount = 1) => {
      counts[name] = (counts[name] ?? 0) + amount;
    };
    const metrics: Metrics = { count, observe: () => undefined };
    const first = kit.start({ context: { metrics } });
    await kit.propose();
    await kit.propose({ tool: "forbidden" });
    const value = Buffer.from("{");
    await kit.log.append([{ topic: "proposals", partition: 0, key: "t/c", value }]);
    await kit.journaled(3);
    await first.close();
    expect(counts).toMatchObject({ inputs: 3, decisions: 2, dead_letters: 1, checkpoints: 1 });
    expect(counts).not.toHaveProperty("checkpoints_ignored");

    const loaded = await kit.checkpoints.load(0);
    const load = async () => ({ ...loaded, checkpoint: null, problem: "torn" });
    kit.clock.advance(DAY_MS * 9);
    const options = { idleRecordAfterMs: DAY_MS };
    const checkpoints = { load, save: kit.checkpoints.save.bind(kit.checkpoints) };
    kit.start({ checkpoints, options, context: { metrics } });
    await kit.journaled(4);
    await until(() => counts.idle_records === 1);
    expect(counts).toMatchObject({ decisions: 2, dead_letters: 1, checkpoints_ignored: 1 });
  });

  it("continues where its journal ends, after it was closed and without a checkpoint", async () => {
    const proposal = await kit.propose();
    const first = kit.start({ checkpoints: null });
    await kit.journaled(1);
    await first.close();
    expect(first.status).toMatchObject({ state: "closed", error: null });
    await kit.propose(proposal);
    kit.start({ checkpoints: null });
    const journal = await kit.journaled(2);
    expect(journal[1]?.events[0]).toMatchObject({ type: "repeated" });
    expect(await kit.values("allowed")).toHaveLength(1);
  });

  it("writes a checkpoint when it is closed, and starts from it", async () => {
    await kit.propose();
    await kit.propose();
    const first = kit.start();
    await kit.journaled(2);
    await first.close();
    expect((await kit.checkpoints.load(0)).checkpoint?.header.seq).toBe(2);
    kit.start();
    await until(() => kit.lines.filter(({ message }) => message.includes("restored")).length === 2);
    const restored = kit.lines.filter(({ message }) => message.includes("restored"));
    expect(restored.map(({ fields }) => fields["source"])).toEqual(["journal", "checkpoint"]);
    expect(restored[1]?.fields["replayed"]).toBe(0);
  });

  it("writes checkpoints while it runs", async () => {
    kit.start({ options: { checkpointEvery: 2 } });
    for (let i = 0; i < 5; i += 1) await kit.propose();
    await kit.journaled(5);
    await until(async () => (await kit.checkpoints.load(0)).checkpoint !== null);
  });

  it("decides nothing without a policy, and the waiting inputs once it has one", async () => {
    const task = kit.start({ engine: null });
    await kit.propose();
    await until(() => task.status.state === "suspended");
    expect(task.status.detail).toBe("no_policy");
    expect(await kit.journal()).toEqual([]);
    task.setEngine(kit.engines[1]);
    const journal = await kit.journaled(1);
    expect(journal[0]?.policyRevision).toBe("sha256:second");
    task.setEngine(null);
    await until(() => task.status.detail === "no_policy");
  });

  it("decides under a new policy from the next batch on", async () => {
    const task = kit.start();
    await kit.propose({ tool: "charge" });
    await kit.journaled(1);
    task.setEngine(kit.engines[1]);
    await kit.propose({ tool: "charge", arguments: '{"order":99}' });
    const journal = await kit.journaled(2);
    expect(journal.map(({ policyRevision }) => policyRevision)).toEqual([
      "sha256:first",
      "sha256:second",
    ]);
    expect(journal[1]?.events[0]).toMatchObject({
      type: "refused",
      refusal: { reason: "tier_denied" },
    });
  });

  it("takes the partition over again after a commit with an unknown outcome", async () => {
    const states: TaskStatus["state"][] = [];
    const task = kit.start({ ownership: scripted(["unknown", "lost", "done"]) });
    task.onStatus(({ state }) => states.push(state));
    await kit.propose();
    await kit.journaled(1);
    await kit.propose();
    await kit.journaled(2);
    await until(() => kit.committed.length === 2);
    expect(kit.committed.map(({ record }) => record.seq)).toEqual([1, 2]);
    expect(states.filter((state) => state === "suspended").length).toBe(2);
    expect(await kit.values("allowed")).toHaveLength(2);
  });

  it("is closed by a newer owner, and commits nothing more", async () => {
    const first = kit.start();
    await kit.propose();
    await kit.journaled(1);
    await kit.log.takeOver(0);
    await kit.propose();
    await until(() => first.status.state === "closed");
    expect(first.status.detail).toBe("not_owner");
    expect(first.status.error).toBeInstanceOf(FencedError);
    expect(await kit.journal()).toHaveLength(1);
  });

  it("quarantines the one input of a batch that is too large to write", async () => {
    for (let i = 0; i < 3; i += 1) await kit.propose({ callId: `c${i}` });
    kit.start({ ownership: scripted(["oversize", "done", "oversize", "done", "done"]) });
    const journal = await kit.journaled(3);
    expect(journal.map(({ input }) => input.type)).toEqual(["decided", "quarantined", "decided"]);
    expect(await kit.values("deadLetters")).toHaveLength(1);
  });

  it("sends a tick when a deadline has passed, which ends the held call", async () => {
    kit.start();
    await kit.propose({ tool: "delete_order" });
    await kit.journaled(1);
    expect(await kit.values("verdicts")).toHaveLength(0);
    kit.clock.advance(HOLD_MS + 1);
    const journal = await kit.journaled(2);
    expect(journal[1]).toMatchObject({
      input: { type: "decided", input: { type: "tick" } },
      events: [{ type: "refused", refusal: { reason: "approval_expired" } }],
    });
    expect(await kit.values("verdicts")).toHaveLength(1);
  });

  it("writes an idle record where the journal has had none for long", async () => {
    kit.start({ options: { idleRecordAfterMs: 5_000 } });
    await kit.propose();
    await kit.journaled(1);
    kit.clock.advance(5_000);
    const journal = await kit.journaled(2);
    expect(journal[1]).toMatchObject({
      input: { type: "idle" },
      events: [],
      next: { proposals: 1 },
    });
  });

  it("continues when a listener throws", async () => {
    const task = kit.start();
    task.onCommitted(() => {
      throw new Error("not mine");
    });
    await kit.propose();
    await kit.propose();
    await until(() => kit.committed.length === 2);
    expect(kit.lines.some(({ message }) => message === "a listener threw")).toBe(true);
  });

  it("reports only later records to a later listener, also where the journal is read again", async () => {
    let breaks = false;
    const ownership: Ownership = {
      takeOver: async (partition) => {
        const writer = await kit.log.takeOver(partition);
        const commit = async (batch: CommitBatch): Promise<CommitOutcome> => {
          const outcome = await writer.commit(batch);
          if (!breaks) return outcome;
          breaks = false;
          throw new StateCorruptError("what was held cannot be read");
        };
        return { ...writer, commit };
      },
    };
    const task = kit.start({ ownership, checkpoints: null, unheard: true });
    await kit.propose();
    await kit.propose();
    await kit.journaled(2);
    // The listener knows of its commits once the task has begun another turn.
    const { turns } = task;
    await until(() => task.turns > turns);
    task.onCommitted((records) => kit.committed.push(...records));
    breaks = true;
    await kit.propose();
    await until(() => task.status.state === "running" && kit.committed.length > 0);
    await kit.propose();
    await until(() => kit.committed.length >= 2);
    expect(kit.committed.map(({ record }) => record.seq)).toEqual([3, 4]);
  });

  it("can be closed before it has started, and twice", async () => {
    const task = kit.start({ engine: null });
    await task.close();
    await task.close();
    expect(task.status.state).toBe("closed");
  });
});
