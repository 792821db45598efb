/** The rules of an executor that is killed with SIGKILL, at each step of a call. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AllowedCall } from "../../../wire/output-records.ts";
import { isEnded, type Lab } from "../lab.ts";
import { assertRule } from "../rule-broken.ts";
import type { Bench, Rule } from "./rule.ts";

const CLAIM_KILLS = 3;
const LOAD_CALLS = 40;
const LOAD_KILLS = 3;
const LOAD_PAUSE_MS = 400;
const TAKE_OVER_KILL_MS = 1_500;

export const KILL_RULES: readonly Rule[] = [
  {
    id: "kill-idle",
    what: "killed without a call: the next call runs",
    run: async ({ lab, executor }) => {
      await executor.kill();
      const call = await lab.publish();
      executor.start();
      return expectOnce(lab, call, ["succeeded"]);
    },
  },
  {
    id: "kill-claim",
    what: "killed while it claims: the call ends, and runs at most once",
    run: async ({ lab, executor }) => {
      let open = 0;
      for (let kill = 0; kill < CLAIM_KILLS; kill += 1) {
        // Its members and partitions are settled once it has run a call.
        await lab.untilEnded(await lab.publish({ conversationId: lab.conversationIn(0) }));
        if (await killInClaim({ lab, executor })) open += 1;
      }
      return `${CLAIM_KILLS} kills, ${open} of them before the commit was seen`;
    },
  },
  {
    id: "kill-call",
    what: "killed while the handler runs: reported as `unknown`, and not run again",
    run: async ({ lab, executor }) => {
      const { call, release } = await lab.runHeld();
      await lab.untilReported(call, "started");
      const next = await lab.publish({ conversationId: call.conversationId, step: "2" });
      await executor.kill();
      release();
      executor.start();
      await expectOnce(lab, next, ["succeeded"]);
      await expectOnce(lab, call, ["unknown"]);
      const [started, ended] = lab.reportsOf(call);
      const isOther = started?.executorId !== ended?.executorId;
      assertRule(isOther, "the restarted process has the `executorId` of the killed one");
      return "unknown; the next call of the conversation succeeded";
    },
  },
  {
    id: "kill-report",
    what: "killed when the handler has ended, before the report: not run again",
    run: async ({ lab, executor }) => {
      let killed: Promise<void> | null = null;
      const call = await lab.publish(
        {},
        {
          status: 200,
          onAnswered: () => {
            killed ??= executor.kill();
          },
        },
      );
      await lab.until("the handler was answered", () => killed !== null);
      await killed;
      executor.start();
      return expectOnce(lab, call, ["unknown", "succeeded"]);
    },
  },
  {
    id: "kill-reported",
    what: "killed after the report: nothing more is reported",
    run: async ({ lab, executor }) => {
      const call = await lab.publish();
      await lab.untilReported(call, "succeeded");
      await executor.restart();
      await expectPassed(lab, call);
      const statuses = lab.statusesOf(call).join(", ");
      assertRule(statuses === "started, succeeded", `the log has ${statuses}`);
      return statuses;
    },
  },
  {
    id: "kill-take-over",
    what: "killed as it takes over: the one after it takes over",
    run: async ({ lab, executor }) => {
      const { call, release } = await lab.runHeld();
      const end = await lab.resultsEnd(lab.partitionOf(call), "latest");
      await executor.restart();
      release();
      await Promise.race([
        sleep(TAKE_OVER_KILL_MS + lab.config.kafka.sessionTimeoutMs),
        untilWritten(lab, lab.partitionOf(call), end),
      ]);
      await executor.restart();
      const ended = await expectOnce(lab, call, ["unknown"]);
      await expectPassed(lab, call);
      return ended;
    },
  },
  {
    id: "kill-load",
    what: "killed again and again under load: no effect twice, and every call ends",
    run: async ({ lab, executor }) => {
      const calls: AllowedCall[] = [];
      for (let kill = 0; kill < LOAD_KILLS; kill += 1) {
        for (let count = 0; count < LOAD_CALLS; count += 1) calls.push(await lab.publish());
        await lab.until("a call began", () => calls.some((one) => !isEnded(lab.statusesOf(one))));
        await sleep(LOAD_PAUSE_MS * Math.random());
        await executor.restart();
      }
      for (const call of calls) await lab.untilEnded(call);
      const ran = calls.filter((one) => lab.effectsOf(one).length > 0).length;
      const unknown = calls.filter((one) => lab.statusesOf(one).includes("unknown")).length;
      return `${calls.length} calls, ${LOAD_KILLS} kills: ${ran} ran, ${unknown} are unknown`;
    },
  },
];

/** Whether the transaction of the claim was open a moment after the kill. */
async function killInClaim({ lab, executor }: Bench): Promise<boolean> {
  const conversationId = lab.conversationIn(0);
  const before = await lab.resultsEnd(0, "latest");
  const call = await lab.publish({ conversationId });
  await untilWritten(lab, 0, before);
  await executor.kill();
  const isOpen = (await lab.resultsEnd(0, "stable")) < (await lab.resultsEnd(0, "latest"));
  executor.start();
  const ended = await lab.untilEnded(call);
  const effects = lab.effectsOf(call).length;
  const isRight = ended === "unknown" || (ended === "succeeded" && effects === 1);
  assertRule(isRight, `a call with ${effects} effects was reported as ${ended}`);
  return isOpen;
}

/** Resolves when anything is written to the results of the partition, committed or not. */
function untilWritten(lab: Lab, partition: number, before: number): Promise<void> {
  return lab.until("a claim was written", async () => {
    return (await lab.resultsEnd(partition, "latest")) > before;
  });
}

/** Resolves with the call's end. */
export async function expectOnce(
  lab: Lab,
  call: AllowedCall,
  ends: readonly string[],
): Promise<string> {
  const ended = await lab.untilEnded(call);
  assertRule(ends.includes(ended), `a call was reported as ${ended}, not ${ends.join(" or ")}`);
  const effects = lab.effectsOf(call).length;
  assertRule(effects <= 1, `the handler was called ${effects} times for one call`);
  return ended;
}

/** Resolves when the executor has run a later call of the same partition. */
export async function expectPassed(lab: Lab, { conversationId }: AllowedCall): Promise<void> {
  await lab.untilEnded(await lab.publish({ conversationId, step: "later" }));
}
