/** The rules of owners that follow each other, and that wrongly take themselves for the owner. */
import { assertRule } from "../rule-broken.ts";
import { FOREIGN_TOOL } from "../sample-call.ts";
import { expectOnce, expectPassed, pauseInClaim } from "./kill-rules.ts";
import type { Rule } from "./rule.ts";

export const OWNER_RULES: readonly Rule[] = [
  {
    id: "gone",
    what: "a call that an executor now gone has started is `unknown`, and does not run",
    run: async ({ lab, executor }) => {
      await executor.kill();
      const conversationId = lab.conversationIn(0);
      const own = await lab.publish({ conversationId });
      const foreign = await lab.publish({ conversationId, tool: FOREIGN_TOOL });
      for (const call of [own, foreign]) await lab.writeStarted(call, "gone");
      executor.start();
      await expectOnce(lab, own, ["unknown"]);
      await expectPassed(lab, own);
      assertRule(lab.effectsOf(own).length === 0, "it was run again");
      const statuses = lab.statusesOf(foreign).join(", ");
      assertRule(statuses === "started", `a call of another group was reported as ${statuses}`);
      return "unknown; the other group's call was left alone";
    },
  },
  {
    id: "unreadable",
    what: "records that nobody can read are skipped, also by the next owner",
    run: async ({ lab, executor }) => {
      await lab.writeUnreadable("allowed", 0);
      await lab.writeUnreadable("results", 0);
      const conversationId = lab.conversationIn(0);
      await expectOnce(lab, await lab.publish({ conversationId }), ["succeeded"]);
      await executor.restart();
      return expectOnce(lab, await lab.publish({ conversationId }), ["succeeded"]);
    },
  },
  {
    id: "hidden",
    what: "a start behind another producer's open transaction is seen",
    run: async ({ lab, executor }) => {
      await executor.kill();
      const end = await lab.openTransaction(0);
      const call = await lab.publish({ conversationId: lab.conversationIn(0) });
      // Once it runs calls of the other partition, it is taking this one over.
      const other = await lab.publish({ conversationId: lab.conversationIn(1) });
      await lab.writeStarted(call, "gone");
      executor.start();
      try {
        await lab.untilReported(other, "started");
        await lab
          .until("it ran the call", () => lab.effectsOf(call).length > 0, HIDDEN_MS)
          .catch(() => undefined);
      } finally {
        await end();
      }
      assertRule(lab.effectsOf(call).length === 0, "it ran a call that was started already");
      return expectOnce(lab, call, ["unknown"]);
    },
  },
  {
    id: "paused-call",
    what: "paused in a call while another takes over: it starts nothing when it wakes",
    run: async ({ lab, executor }) => {
      const conversationId = lab.conversationIn(0);
      const { call, release } = await lab.runHeld({ conversationId });
      executor.pause();
      const second = lab.createExecutor();
      try {
        second.start();
        await lab.untilReported(call, "unknown");
        const next = await lab.publish({ conversationId, step: "2" });
        await expectOnce(lab, next, ["succeeded"]);
        executor.resume();
        release();
        await expectPassed(lab, call);
        const effects = lab.effectsOf(call).length + lab.effectsOf(next).length;
        assertRule(effects === 2, `two calls had ${effects} effects`);
      } finally {
        executor.resume();
        await second.stop();
      }
      await expectPassed(lab, call);
      return lab.statusesOf(call).join(", ");
    },
  },
  {
    id: "paused-claim",
    what: "paused in its claim while another takes over: each call runs at most once",
    run: async ({ lab, executor }) => {
      const { isOpen, calls } = await pauseInClaim({ lab, executor });
      const second = lab.createExecutor();
      try {
        second.start();
        for (const call of calls) await lab.untilEnded(call);
      } finally {
        executor.resume();
        await second.stop();
      }
      const [any] = calls;
      if (any !== undefined) await expectPassed(lab, any);
      for (const call of calls) await expectOnce(lab, call, ["unknown", "succeeded"]);
      return isOpen ? "the transaction was open" : "no transaction was open";
    },
  },
];

/** How long an executor is watched that must not run a call. */
const HIDDEN_MS = 2_500;
