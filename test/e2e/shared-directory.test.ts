// Several processes with one data directory, and the one that decides is killed again and again: every
// call is decided once, all processes get the same decision, and no call of the others fails.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../services/adapters/system/clock.ts";
import { type Decision, isRefused, openCallgate } from "../../services/library/callgate.ts";
import { openLog } from "../../services/process/directory/open-log.ts";
import { openSharedLog } from "../../services/process/directory/open-storage.ts";
import { coreFold } from "../../services/runtime/core-engine.ts";
import { verifyJournal } from "../../services/runtime/verify.ts";
import { ensureBuilt } from "../../tasks/ensure-built.js";
import { numberedCall, PAY_POLICY } from "../support/numbered-calls.js";
import { makeDirectory } from "../support/open-gate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(REPOSITORY, "test/support/propose-until-killed.js");
const LIBRARY = new URL("../../dist/services/library/callgate.js", import.meta.url).href;
const CALLS = 400;

type Answer = { readonly number: number; readonly decision: Decision };
type Proposing = {
  readonly child: ChildProcess;
  readonly answers: Answer[];
  /** Resolves with whether it finished its work. */
  readonly ended: Promise<boolean>;
};

beforeAll(() => ensureBuilt());

/** Starts a process that proposes all calls. @param each is told how many answers it has. */
function start(dataDir: string, each: (count: number) => void = () => undefined): Proposing {
  const child = spawn(process.execPath, [PROGRAM, dataDir, String(CALLS), "shared"], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = new Promise((resolve) => child.once("close", resolve));
  const answers: Answer[] = [];
  const read = async (): Promise<boolean> => {
    let isDone = false;
    for await (const line of createInterface({ input: child.stdout })) {
      const printed = JSON.parse(line) as Answer | { readonly done: true };
      if ("done" in printed) isDone = true;
      else {
        answers.push(printed);
        each(answers.length);
      }
    }
    await closed;
    return isDone;
  };
  return { child, answers, ended: read() };
}

/** What must be the same in every process. */
function lasting({ outcome, decisionId, idempotencyKey, policyRevision, refusal }: Decision) {
  return { outcome, decisionId, idempotencyKey, policyRevision, reason: refusal?.reason };
}

test("every call is decided once while one deciding process after the other is killed", async () => {
  const dataDir = join(makeDirectory(), "data");
  const directory = openSharedLog(dataDir, systemClock);
  const workers: Proposing[] = [];
  let kills = 0;
  const killDeciding = (): void => {
    const holder = directory.findHolder();
    const child = workers.map((one) => one.child).find(({ pid }) => pid === holder?.pid);
    if (child?.kill("SIGKILL") === true) kills += 1;
  };
  // The one that counts may be killed itself: then there is one kill.
  const killAt = (count: number): void => {
    if (count === 100 || count === 250) killDeciding();
  };
  workers.push(start(dataDir), start(dataDir), start(dataDir), start(dataDir, killAt));
  const done = await Promise.all(workers.map(({ ended }) => ended));
  await directory.close();
  expect(kills).toBeGreaterThanOrEqual(1);
  expect(done.filter((isDone) => !isDone)).toHaveLength(kills);

  const seen = new Map<number, unknown>();
  for (const { number, decision } of workers.flatMap(({ answers }) => answers)) {
    // Nobody is refused because the process that decided was killed.
    const answer = lasting(decision);
    expect(answer, `call ${number}`).toEqual(seen.get(number) ?? answer);
    expect(answer.reason).not.toBe("gate_unavailable");
    seen.set(number, answer);
  }
  expect(seen.size).toBe(CALLS);

  const gate = await openCallgate({ policy: PAY_POLICY, dataDir });
  for (const [number, before] of seen) {
    const again = await gate.propose(numberedCall(number));
    expect(lasting(again), `call ${number}`).toEqual(before);
    expect(again.repeated).toBe(true);
  }
  await gate.close();

  const { log, codec, close } = openLog(dataDir);
  const verified = await verifyJournal({ log, codec, fold: coreFold, journalSpanMs: 0 }, 0);
  const limits = { recordsMax: 1_000_000, bytesMax: 1_000_000_000 };
  const { records } = await log.read("decisions", 0, 0, limits);
  await close();
  expect(verified).toMatchObject({ problems: [], records: records.length });
  const decided = records.flatMap(({ value }) =>
    codec
      .decodeJournal(value ?? new Uint8Array())
      .events.flatMap((event) =>
        event.type === "allowed" || event.type === "refused" || event.type === "held"
          ? [event.decisionId]
          : [],
      ),
  );
  expect(decided).toHaveLength(CALLS);
  expect(new Set(decided).size).toBe(CALLS);
});

test("a program that uses the gate of another process ends when it is done", async () => {
  const dataDir = join(makeDirectory(), "data");
  const gate = await openCallgate({ policy: PAY_POLICY, dataDir, shared: true });
  onTestFinished(() => gate.close());
  const code = `
    import { openCallgate } from "callgate";
    const options = { policy: ${JSON.stringify(PAY_POLICY)}, dataDir: ${JSON.stringify(dataDir)}, shared: true };
    const gate = await openCallgate(options);
    const { outcome } = await gate.propose({ conversationId: "c", tool: "pay", arguments: { order: "1" } });
    process.stdout.write(outcome);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: REPOSITORY,
  });
  let printed = "";
  for await (const chunk of child.stdout) printed += String(chunk);
  const status = child.exitCode ?? (await new Promise((resolve) => child.once("close", resolve)));
  expect([printed, status]).toEqual(["allowed", 0]);
});

/** Opens the shared gate in a process of its own, and resolves once it decides. */
async function startDeciding(dataDir: string, work = ""): Promise<ChildProcess> {
  const code = `
    import { openCallgate } from "callgate";
    const options = { policy: ${JSON.stringify(PAY_POLICY)}, dataDir: ${JSON.stringify(dataDir)}, shared: true };
    const gate = await openCallgate(options);
    setInterval(() => undefined, 1_000);
    ${work}
    process.stdout.write("ready");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
}

test("a call that the deciding process does not answer is open, and is safe to propose again", async () => {
  const dataDir = join(makeDirectory(), "data");
  const child = await startDeciding(dataDir);
  const options = { policy: PAY_POLICY, dataDir, shared: true, timeoutMs: 1_500 };
  const gate = await openCallgate(options);
  onTestFinished(() => gate.close());
  const first = await gate.propose(numberedCall(1));
  child.kill("SIGSTOP");
  const unanswered = await gate.propose(numberedCall(2));
  expect(unanswered.refusal).toMatchObject({ reason: "gate_unavailable", detail: "timeout" });
  child.kill("SIGCONT");
  const answered = await gate.propose(numberedCall(2));
  expect(answered.refusal?.reason).not.toBe("gate_unavailable");
  child.kill("SIGKILL");
  expect(lasting(await gate.propose(numberedCall(1)))).toEqual(lasting(first));
  expect(lasting(await gate.propose(numberedCall(2)))).toEqual(lasting(answered));
});

test("a write that a killed process had begun does not run again in another", async () => {
  const dataDir = join(makeDirectory(), "data");
  const child = await startDeciding(
    dataDir,
    `const tools = gate.guard({ pay: () => new Promise(() => process.stdout.write("begun")) }, { conversationId: "c" });
    await tools.pay({ order: "7" }, { callId: "a" });`,
  );
  const gate = await openCallgate({ policy: PAY_POLICY, dataDir, shared: true });
  onTestFinished(() => gate.close());
  child.kill("SIGKILL");
  let runs = 0;
  const tools = gate.guard({ pay: (_: { order: string }) => ++runs }, { conversationId: "c" });
  for (const callId of ["a", "b"]) {
    const answer = await tools.pay({ order: "7" }, { callId });
    expect(isRefused(answer) && answer.reason).toMatch(/^(outcome_unknown|duplicate_in_flight)$/);
  }
  expect(runs).toBe(0);
});

test("threads of one process share a directory, too", async () => {
  const dataDir = join(makeDirectory(), "data");
  const gate = await openCallgate({ policy: PAY_POLICY, dataDir, shared: true });
  onTestFinished(() => gate.close());
  const code = `
    import { parentPort } from "node:worker_threads";
    import { openCallgate } from ${JSON.stringify(LIBRARY)};
    const options = { policy: ${JSON.stringify(PAY_POLICY)}, dataDir: ${JSON.stringify(dataDir)}, shared: true };
    const gate = await openCallgate(options);
    const decision = await gate.propose(${JSON.stringify(numberedCall(1))});
    const decides = await gate.reloadPolicy().then(() => true, () => false);
    parentPort.postMessage({ decision, decides });
    await gate.close();`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  type Reported = { readonly decision: Decision; readonly decides: boolean };
  const reported = await new Promise<Reported>((resolve) => worker.once("message", resolve));
  // The thread does not take the other one for gone.
  expect(reported.decides).toBe(false);
  expect((await gate.reloadPolicy()).outcome).toBe("unchanged");
  expect(lasting(await gate.propose(numberedCall(1)))).toEqual(lasting(reported.decision));
  await worker.terminate();
});
