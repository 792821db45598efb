/** The rules of an executor that is killed with SIGKILL, at each step of a call. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AllowedCall } from "../../../wire/output-records.ts";
import { type Lab, WITHIN_MS } from "../lab.ts";
import { assertRule } from "../rule-broken.ts";
import type { Bench, Rule } from "./rule.ts";

/** Kills end when so many of them found the transaction of the claim open. */
const OPEN_CLAIMS = 2;
const CLAIM_KILLS_MAX = 8;
/** The first kill comes so long before the claim is expected; each next one corrects that. */
const CLAIM_EARLY_MS = 5;
const EARLIER_MS = 2;
const LATER_MS = 1;
const REPORT_KILLS = 3;
const LOAD_CALLS = 12;
const LOAD_KILLS = 3;
/** Some calls run at any moment of the load. */
const LOAD_DELAY_MS = 200;
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
    what: "killed just before, in and after its claim: the call ends, and runs at most once",
    run: async ({ lab, executor }) => {
      const hits = { before: 0, open: 0, after: 0 };
      let earlyMs = CLAIM_EARLY_MS;
      let kills = 0;
      for (; kills < CLAIM_KILLS_MAX && hits.open < OPEN_CLAIMS; kills += 1) {
        const claimMs = await measureClaim(lab);
        const moment = await killInClaim({ lab, executor }, claimMs - earlyMs);
        hits[moment] += 1;
        if (moment === "after") earlyMs += EARLIER_MS;
        if (moment === "before") earlyMs -= LATER_MS;
      }
      const { before, open, after } = hits;
      return `${kills} kills: ${before} before the claim, ${open} in its transaction, ${after} after it`;
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
      let unreported = 0;
      for (let kill = 0; kill < REPORT_KILLS; kill += 1) {
        if ((await killAfterAnswer({ lab, executor })) === "unknown") unreported += 1;
      }
      return `${REPORT_KILLS} kills, ${unreported} of them before the report was written`;
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
      const withinMs = TAKE_OVER_KILL_MS + lab.config.kafka.sessionTimeoutMs;
      await untilWritten(lab, lab.partitionOf(call), end, withinMs);
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
        const before = calls.length;
        for (let count = 0; count < LOAD_CALLS; count += 1) {
          calls.push(await lab.publish({}, { status: 200, delayMs: LOAD_DELAY_MS }));
        }
        const fresh = calls.slice(before);
        await lab.until("a call began", () => fresh.some((one) => lab.effectsOf(one).length > 0));
        await sleep(LOAD_DELAY_MS * Math.random());
        await executor.restart();
      }
      for (const call of calls) await lab.untilEnded(call);
      const begun = calls.filter((one) => lab.effectsOf(one).length > 0).length;
      const unknown = calls.filter((one) => lab.statusesOf(one).includes("unknown")).length;
      return `${calls.length} calls, ${LOAD_KILLS} kills: ${begun} ran, ${unknown} are unknown`;
    },
  },
];

/** Kills the executor as soon as the handler's answer has left; resolves with the call's end. */
async function killAfterAnswer({ lab, executor }: Bench): Promise<string> {
  const kills: Promise<void>[] = [];
  const onAnswered = () => {
    if (kills.length === 0) kills.push(executor.kill());
  };
  const call = await lab.publish({}, { status: 200, onAnswered });
  await lab.until("the handler was answered", () => kills.length > 0);
  await Promise.all(kills);
  executor.start();
  return expectOnce(lab, call, ["unknown", "succeeded"]);
}

/** Milliseconds from the publication of a call until its claim is written. */
async function measureClaim(lab: Lab): Promise<number> {
  // Its members and partitions are settled once it has run a call.
  await lab.untilEnded(await lab.publish({ conversationId: lab.conversationIn(0) }));
  const before = await lab.resultsEnd(0, "latest");
  const fromMs = performance.now();
  const publishing = lab.publish({ conversationId: lab.conversationIn(0) });
  await untilWritten(lab, 0, before);
  const claimMs = performance.now() - fromMs;
  await lab.untilEnded(await publishing);
  return claimMs;
}

type KillMoment = "before" | "open" | "after";

/** Kills the executor some time after a call is published; resolves with what that interrupted. */
async function killInClaim({ lab, executor }: Bench, afterMs: number): Promise<KillMoment> {
  const before = await lab.resultsEnd(0, "latest");
  const publishing = lab.publish({ conversationId: lab.conversationIn(0) });
  await sleep(afterMs);
  await executor.kill();
  const latest = await lab.resultsEnd(0, "latest");
  const isOpen = (await lab.resultsEnd(0, "stable")) < latest;
  executor.start();
  const call = await publishing;
  const ended = await lab.untilEnded(call);
  const effects = lab.effectsOf(call).length;
  const isRight = ended === "unknown" || (ended === "succeeded" && effects === 1);
  assertRule(isRight, `a call with ${effects} effects was reported as ${ended}`);
  if (isOpen) return "open";
  return latest === before ? "before" : "after";
}

/**
 * Resolves when anything is written to the results of the partition, committed or not, or when the
 * time is over. It asks without a pause, since a claim is open for some milliseconds only.
 */
export async function untilWritten(
  lab: Lab,
  partition: number,
  before: number,
  withinMs = WITHIN_MS,
): Promise<void> {
  const untilMs = performance.now() + withinMs;
  let end = before;
  while (end <= before && performance.now() < untilMs) {
    end = await lab.resultsEnd(partition, "latest");
  }
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
