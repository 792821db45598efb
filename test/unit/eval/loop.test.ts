import { describe, expect, test } from "vitest";
import { agentOf, moveOf } from "../../eval/loop/agents.ts";
import { type GuardName, openGuard } from "../../eval/loop/guards.ts";
import { playTask } from "../../eval/loop/play-task.ts";
import { drawFrom } from "../../eval/loop/random.ts";
import { TASKS } from "../../eval/loop/tasks.ts";
import { World } from "../../eval/loop/world.ts";

const CALL = { tool: "get_rate", args: { currency: "eur" } };
const ADVICE = {
  ...{ retryAfterMs: null, previousOutput: null, previousStatus: null, suggestedNext: [] },
  ...{ approvalId: null, decisionId: null },
};

async function answersOf(name: GuardName, calls: number, report?: "failed"): Promise<string> {
  const guard = await openGuard(name, {}, new Set(["get_rate"]));
  const answers: string[] = [];
  for (let count = 0; count < calls; count += 1) {
    const answer = await guard.propose(CALL, 1);
    answers.push(answer.type === "refused" && answer.endsTurn ? "ended" : answer.type);
    if (answer.type !== "run") continue;
    await guard.report(
      answer.id,
      CALL,
      report === "failed"
        ? { status: "failed", message: "503", code: "503" }
        : { status: "succeeded", output: "1.08" },
    );
  }
  return answers.join(" ");
}

describe("the guards beside the gate", () => {
  test("block and stop at their published counts", async () => {
    expect(await answersOf("none", 3)).toBe("run run run");
    expect(await answersOf("OpenRouter doomLoop", 6)).toBe("run run refused refused refused ended");
    expect(await answersOf("Hermes", 6)).toBe("run run run run run ended");
    expect(await answersOf("Hermes", 6, "failed")).toBe("run run run run run ended");
  });
});

describe("a refusal's members", () => {
  test("say what to do", () => {
    const disposition = "use_previous_result";
    expect(moveOf({ ...ADVICE, disposition, previousOutput: 7 })).toEqual({
      type: "use",
      output: 7,
    });
    expect(moveOf({ ...ADVICE, disposition, previousStatus: "succeeded" })).toEqual({
      type: "done",
    });
    expect(moveOf({ ...ADVICE, disposition: "wait", retryAfterMs: 5 })).toEqual({
      ...{ type: "wait", ms: 5 },
    });
    expect(moveOf({ ...ADVICE, disposition: "wait", approvalId: "a" })).toEqual({ type: "ask" });
  });

  test("say nothing where they are missing", () => {
    expect(moveOf(null)).toBeNull();
    expect(moveOf({ ...ADVICE, disposition: "wait" })).toBeNull();
    expect(moveOf({ ...ADVICE, disposition: "use_previous_result" })).toBeNull();
  });
});

describe("a task without a guard", () => {
  const play = async (index: number, seed: number) => {
    const task = TASKS[index];
    if (task === undefined) throw new Error(`there is no task ${index}`);
    const guard = await openGuard("none", {}, new Set());
    const setting = { guard, world: new World(), draw: drawFrom(seed) };
    return playTask(task, agentOf("stubborn"), setting);
  };

  test("is solved, each of them", async () => {
    for (const [index, { name }] of TASKS.entries()) {
      expect([name, (await play(index, 1)).solved]).toEqual([name, true]);
    }
  });

  test("ends alike with one seed, and doubles what it repeats", async () => {
    const runs = await Promise.all([1, 2, 3, 4, 5].map((seed) => play(0, seed)));
    expect(await Promise.all([1, 2, 3, 4, 5].map((seed) => play(0, seed)))).toEqual(runs);
    expect(Math.max(...runs.map(({ doubled }) => doubled))).toBeGreaterThan(0);
  });
});
