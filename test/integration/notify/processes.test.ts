// `callgate notify` beside an embedded gate, as an operator runs it.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Callgate } from "../../../services/library/callgate.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";
import { type RunningProcess, startProcess } from "../../support/processes/running-process.ts";
import { runCallgate } from "../../support/run-callgate.ts";
import { until } from "../../support/runtime-kit.ts";
import { WEBHOOK_SECRET, WebhookReceiver } from "../../support/webhook-receiver.ts";

const CALLS = 60;
const KILLS = 5;
const ANSWER_MS = 20;

function startNotify(dataDir: string, receiver: WebhookReceiver, from = "start"): RunningProcess {
  const target = {
    ...{ id: "ops", url: `${receiver.url}/hidden-path`, allowPrivate: true },
    ...{ secret: WEBHOOK_SECRET, headers: { authorization: "hidden-token" } },
  };
  const config = { http: { port: 0 }, log: { level: "debug" }, notify: { targets: [target] } };
  return startProcess(["notify", "run", "--data-dir", dataDir, "--from", from], config);
}

async function hold(gate: Callgate, at: number): Promise<string> {
  const call = { conversationId: `c${at}`, callId: "1", tool: "delete_order", arguments: { at } };
  return (await gate.propose(call)).approvalId ?? expect.unreachable("the call is not held");
}

/** Waits for a condition; a process that ended by itself never fulfils it. */
async function whileRunning(notify: RunningProcess, isFulfilled: () => boolean): Promise<void> {
  await until(() => {
    if (notify.child.exitCode === null) return isFulfilled();
    throw new Error(`it ended: ${JSON.stringify(notify.lines)} ${notify.stderr}`);
  });
}

describe("a notifier that is killed again and again while it delivers", () => {
  test("delivers every event at least once, under the same id", async () => {
    const dataDir = makeDirectory();
    const gate = await openGate({ dataDir });
    const receiver = await WebhookReceiver.start();
    receiver.answer = (response) => void setTimeout(() => response.end(), ANSWER_MS);
    const first = await hold(gate, 0);
    const approvalIds = [first];
    const holdAll = async () => {
      for (let at = 1; at < CALLS; at += 1) {
        approvalIds.push(await hold(gate, at));
        await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
      }
    };
    let notify = startNotify(dataDir, receiver);
    const holding = holdAll();
    for (let kill = 0; kill < KILLS; kill += 1) {
      // At the beginning of deliveries, and later in the middle of them.
      const enough = receiver.requests.length + 3 + 2 * kill;
      const hasEnough = () =>
        receiver.requests.length >= enough || new Set(receiver.ids).size === CALLS;
      await whileRunning(notify, hasEnough);
      notify.child.kill("SIGKILL");
      await notify.ended;
      notify = startNotify(dataDir, receiver);
    }
    await holding;
    const expected = approvalIds.map((id) => `held-${id}`).toSorted();
    await whileRunning(notify, () => new Set(receiver.ids).size === CALLS);
    expect([...new Set(receiver.ids)].toSorted()).toEqual(expected);
    // What was sent and not stored as delivered when the process was killed: few at a time.
    expect(receiver.requests.length).toBeLessThanOrEqual(CALLS + KILLS * 8);
    await until(async () => /notify_pending\S+ 0$/m.test(await metricsOf(notify)));
    notify.child.kill("SIGTERM");
    expect(await notify.ended).toEqual({ code: 0, signal: null });
  });
});

const metricsOf = async (notify: RunningProcess) => (await notify.get("/metrics")).text();

test("lists what was given up, and sends it again while the notifier runs", async () => {
  const dataDir = makeDirectory();
  const gate = await openGate({ dataDir });
  const receiver = await WebhookReceiver.start();
  receiver.answer = (response) => void response.writeHead(410).end();
  await hold(gate, 0);
  const notify = startNotify(dataDir, receiver, "end");
  await notify.ready();
  const approvalId = await hold(gate, 1);
  await until(async () => /notify_dead\S+ 1$/m.test(await metricsOf(notify)));
  const run = (...words: readonly string[]) =>
    runCallgate(["notify", ...words, "--data-dir", dataDir], { cwd: notify.directory });
  const listed = await run("failed");
  expect(listed.stdout).toMatch(
    new RegExp(`^1 +ops +held-${approvalId} .* 1 +the receiver answered 410$`, "m"),
  );
  expect((await run("failed", "--target", "other")).stdout).toContain("every webhook arrived");
  const wrong = await run("retry", "7");
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    "callgate: 7: no webhook with this number failed; callgate notify failed lists them\n",
  ]);

  receiver.answer = (response) => void response.end();
  const before = receiver.requests.length;
  expect((await run("retry")).stdout).toBe("1 webhook will be sent again by the notifier\n");
  await until(() => receiver.requests.length === before + 1);
  expect(new Set(receiver.ids)).toEqual(new Set([`held-${approvalId}`]));
  await until(async () => /notify_sent_total\S+ 1$/m.test(await metricsOf(notify)));
  expect(JSON.parse((await run("failed", "--json")).stdout)).toEqual({ failed: [] });
  const ready = await (await notify.get("/readyz")).text();
  const shown = `${ready}${JSON.stringify(notify.lines)}${notify.stderr}${await metricsOf(notify)}`;
  expect(shown).not.toMatch(/hidden|whsec_/);
});

test("a directory in which no notifier ran is an error", async () => {
  const { code, stderr } = await runCallgate(["notify", "failed", "--data-dir", "nowhere"], {
    cwd: makeDirectory(),
  });
  expect(code).toBe(3);
  expect(stderr).toContain(
    `\`${join("nowhere", "notify")}\` does not exist: no notifier ran there`,
  );
});

test("a notifier without targets does not start", async () => {
  const notify = startProcess(["notify", "--data-dir", makeDirectory()], { http: { port: 0 } });
  expect((await notify.ended).code).toBe(2);
  expect(notify.stderr).toContain(
    "notify.targets: is missing; add it, or set CALLGATE_NOTIFY_TARGETS",
  );
});
