/** The rules of an executor that is killed with SIGKILL, at each step of a call. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AllowedCall } from "../../../wire/output-records.ts";
import { type Lab, WITHIN_MS } from "../lab.ts";
import { assertRule } from "../rule-broken.ts";
import type { Bench, Rule } from "./rule.ts";

/** Kills end when so many of them found the transaction of the claim open. */
const OPEN_CLAIMS = 2;
const CLAIM_KILLS_MAX = 6;
const CLAIMED_CALLS = 24;
const CLAIM_LOOK_MS = 8;
const SETTLE_MS = 20;
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
    what: "killed in the transaction of a claim: each call ends, and runs at most once",
    run: async ({ lab, executor }) => {
      let kills = 0;
      let inClaims = 0;
      for (; kills < CLAIM_KILLS_MAX && inClaims < OPEN_CLAIMS; kills += 1) {
        const { isOpen, calls } = await pauseInClaim({ lab, executor });
        if (isOpen) inClaims += 1;
        await executor.kill();
        executor.start();
        for (const call of calls) await expectOnce(lab, call, ["unknown", "succeeded"]);
      }
      return `${kills} kills, ${inClaims} of them in the transaction of a claim`;
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

/** `isOpen`: its last claim is in the log, and not committed. */
type PausedInClaim = { readonly isOpen: boolean; readonly calls: readonly AllowedCall[] };

/**
 * Publishes calls one after the other, and pauses the executor until it stands in the transaction of
 * a claim, or all calls have ended.
 */
export async function pauseInClaim({ lab, executor }: Bench): Promise<PausedInClaim> {
  const calls: AllowedCall[] = [];
  const publishAll = async () => {
    while (calls.length < CLAIMED_CALLS) {
      calls.push(await lab.publish({ conversationId: lab.conversationIn(0) }));
    }
  };
  const publishing = publishAll();
  const isDone = () =>
    calls.length === CLAIMED_CALLS && calls.every((call) => lab.statusesOf(call).length > 1);
  let isOpen = false;
  const untilMs = performance.now() + WITHIN_MS;
  while (!isOpen && !isDone() && performance.now() < untilMs) {
    executor.resume();
    await sleep(CLAIM_LOOK_MS * Math.random());
    executor.pause();
    // A commit that was under way arrives meanwhile.
    isOpen = (await isClaimOpen(lab)) && (await sleep(SETTLE_MS, true)) && (await isClaimOpen(lab));
  }
  await publishing;
  return { isOpen, calls };
}

async function isClaimOpen(lab: Lab): Promise<boolean> {
  return (await lab.resultsEnd(0, "stable")) < (await lab.resultsEnd(0, "latest"));
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
  assertRule(ended !== "succeeded" || effects === 1, "a call succeeded without its handler");
  return ended;
}

/** Resolves when the executor has run a later call of the same partition. */
export async function expectPassed(lab: Lab, { conversationId }: AllowedCall): Promise<void> {
  await lab.untilEnded(await lab.publish({ conversationId, step: "later" }));
}
