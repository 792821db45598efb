/** The rules of a call that nothing disturbs. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { assertRule } from "../rule-broken.ts";
import { argumentsWithKey, FOREIGN_TOOL, keyOf } from "../sample-call.ts";
import type { Bench, Rule } from "./rule.ts";

/** How long an executor is watched for what it must not do. */
const QUIET_MS = 1_500;
const CLAIMED_WITHIN_MS = 10_000;
const LIMIT_MS = 1_000;
const UNKNOWN_WITHIN_MS = 15_000;
const UNPROCESSABLE = 422;
const SERVER_ERROR = 500;

export const CALL_RULES: readonly Rule[] = [
  {
    id: "claim",
    what: "`started` is in the log while the handler runs, and the result follows it",
    run: async ({ lab }) => {
      const { call, release } = await lab.runHeld();
      try {
        const isClaimed = () => lab.statusesOf(call).includes("started");
        await lab.until("readers of committed records see `started`", isClaimed, CLAIMED_WITHIN_MS);
      } finally {
        release();
      }
      await lab.untilEnded(call);
      const reports = lab.reportsOf(call);
      assertStatuses(lab.statusesOf(call), ["started", "succeeded"]);
      const isAddressed = reports.every(
        ({ key, partition }) => key === keyOf(call) && partition === lab.partitionOf(call),
      );
      assertRule(isAddressed, "a result has another key or partition than the allowed record");
      const ids = new Set(reports.map(({ executorId }) => executorId));
      assertRule(ids.size === 1 && !ids.has(null), "the results do not have one `executorId`");
      return "started, succeeded";
    },
  },
  {
    id: "key",
    what: "the handler gets the idempotency key, also at the path that the record names",
    run: async ({ lab }) => {
      const call = await lab.publish();
      await lab.untilEnded(call);
      const [effect] = lab.effectsOf(call);
      assertRule(effect?.idempotencyKey === call.idempotencyKey, "the key is another one");
      const isSame = isDeepStrictEqual(effect?.arguments, argumentsWithKey(call));
      assertRule(isSame, `the arguments are ${JSON.stringify(effect?.arguments)}`);
      return "key and arguments are those of the record";
    },
  },
  {
    id: "failure",
    what: "a handler that fails is reported as `failed`, with what is known of its effect",
    run: async ({ lab }) => {
      const refused = await lab.publish({}, { status: UNPROCESSABLE });
      const broken = await lab.publish({}, { status: SERVER_ERROR });
      for (const call of [refused, broken]) await lab.untilReported(call, "failed");
      const effectOf = (call: typeof refused) => lab.reportsOf(call).at(-1)?.effect ?? "none given";
      assertRule(effectOf(refused) === "none", `HTTP 422 was reported as ${effectOf(refused)}`);
      assertRule(effectOf(broken) === "possible", `HTTP 500 was reported as ${effectOf(broken)}`);
      return "422: none, 500: possible";
    },
  },
  {
    id: "repeat",
    what: "a record that is in the log twice runs once",
    run: async ({ lab }) => {
      const call = await lab.publish();
      await lab.append(call);
      await lab.untilEnded(call);
      await lab.append(call);
      await passed(lab, lab.partitionOf(call));
      assertStatuses(lab.statusesOf(call), ["started", "succeeded"]);
      return "three records, one effect";
    },
  },
  {
    id: "late",
    what: "a call that is too late does not run",
    run: async ({ lab }) => {
      const call = await lab.publish({ startWithinMs: -1_000 });
      await passed(lab, lab.partitionOf(call));
      assertRule(lab.effectsOf(call).length === 0, "the handler was called");
      const others = lab.statusesOf(call).filter((one) => one !== "not_executed");
      assertRule(
        others.every((one) => one === "started"),
        `reported as ${others.join(", ")}`,
      );
      return "no effect";
    },
  },
  {
    id: "foreign",
    what: "a tool without a handler is left to other groups",
    run: async ({ lab }) => {
      const call = await lab.publish({ tool: FOREIGN_TOOL });
      await passed(lab, lab.partitionOf(call));
      assertStatuses(lab.statusesOf(call), []);
      return "no report";
    },
  },
  {
    id: "order",
    what: "writes of one conversation run one after the other",
    run: async ({ lab }) => {
      const conversationId = lab.conversationIn(0);
      const first = await lab.runHeld({ conversationId, step: "1" });
      const second = await lab.publish({ conversationId, step: "2" });
      await sleep(QUIET_MS);
      const isAhead = lab.effectsOf(second).length > 0;
      first.release();
      assertRule(!isAhead, "the second began while the first ran");
      for (const call of [first.call, second]) await lab.untilReported(call, "succeeded");
      return "the second waited";
    },
  },
  {
    id: "limit",
    what: "a handler that runs longer than its limit is reported as `unknown` in time",
    run: async ({ lab }) => {
      const { call, release } = await lab.runHeld({ timeLimitMs: LIMIT_MS });
      try {
        const isReported = () => lab.statusesOf(call).includes("unknown");
        await lab.until("`unknown` was reported", isReported, UNKNOWN_WITHIN_MS);
      } finally {
        release();
      }
      await passed(lab, lab.partitionOf(call));
      const [, , ...late] = lab.statusesOf(call);
      assertRule(
        late.every((one) => one === "succeeded"),
        `then came ${late.join(", ")}`,
      );
      return late.length === 0 ? "unknown" : "unknown, then the late success";
    },
  },
];

function assertStatuses(seen: readonly string[], expected: readonly string[]): void {
  const list = (statuses: readonly string[]): string => statuses.join(", ") || "nothing";
  assertRule(
    seen.join() === expected.join(),
    `expected ${list(expected)}; the log has ${list(seen)}`,
  );
}

/** Resolves when the executor has run a later call of the partition. */
async function passed(lab: Bench["lab"], partition: number): Promise<void> {
  await lab.untilEnded(await lab.publish({ conversationId: lab.conversationIn(partition) }));
}
