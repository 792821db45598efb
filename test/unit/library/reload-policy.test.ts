// An open gate loads its policy again: by hand, and when its files change. A policy with problems
// never replaces one without, and no call is decided by half a policy.
import { appendFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { OpenOptions, PolicyListener } from "../../../services/client/api/gate-types.ts";
import { type Callgate, CallgateError } from "../../../services/library/callgate.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";

const OPEN = "tool_schemas:\n  pay: {}\n  look: { read_only: true }\n";
/** As `OPEN`, and payments wait for a person. */
const STRICT = `${OPEN}authorization:\n  tiers:\n    - { name: payments, pattern: pay, action: hitl }\n`;
const BROKEN = `${OPEN}budgets:\n  max_step: 3\n`;

type News = Parameters<PolicyListener>[0];
type Opened = { readonly gate: Callgate; readonly file: string; readonly news: readonly News[] };

async function opened(options: Partial<OpenOptions> = {}): Promise<Opened> {
  const file = join(makeDirectory(), "policy.yaml");
  writeFileSync(file, OPEN);
  const news: News[] = [];
  const onPolicy = (one: News): void => void news.push(one);
  const gate = await openGate({ policy: file, onPolicy, ...options });
  return { gate, file, news };
}

/** As editors write: a new file takes the place of the old one. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

let calls = 0;

async function pay(gate: Callgate) {
  calls += 1;
  const callId = `call-${calls}`;
  return gate.propose({
    conversationId: callId,
    tool: "pay",
    arguments: { order: callId },
    callId,
  });
}

async function errorOf(action: Promise<unknown>): Promise<CallgateError> {
  const error = await action.catch((thrown: unknown) => thrown);
  if (error instanceof CallgateError) return error;
  throw new Error(`no CallgateError: ${String(error)}`);
}

function heard(news: readonly News[], count: number): Promise<void> {
  return vi.waitFor(() => expect(news).toHaveLength(count), { timeout: 20_000 });
}

test("a policy that is loaded again by hand decides the next call, which names it", async () => {
  const { gate, file, news } = await opened();
  const before = await pay(gate);
  expect(before).toMatchObject({ outcome: "allowed", policyRevision: gate.policyRevision });
  writeFileSync(file, STRICT);
  const reload = await gate.reloadPolicy();
  expect(reload).toEqual({
    outcome: "loaded",
    revision: gate.policyRevision,
    before: before.policyRevision,
  });
  expect(reload.revision).not.toBe(reload.before);
  const after = await pay(gate);
  expect(after).toMatchObject({ outcome: "held", policyRevision: reload.revision });
  expect(after.refusal?.policy).toBe(reload.revision);
  expect(await gate.reloadPolicy()).toMatchObject({ outcome: "unchanged" });
  expect(news).toEqual([reload]);
});

test("a policy with problems is refused with file and line, and the one before decides on", async () => {
  const { gate, file, news } = await opened();
  const { policyRevision } = gate;
  writeFileSync(file, BROKEN);
  const error = await errorOf(gate.reloadPolicy());
  expect(error.code).toBe("policy_invalid");
  expect(error.message).toContain(`${file}:5:3: budgets.max_step`);
  expect(news).toEqual([{ outcome: "refused", revision: policyRevision, error }]);
  rmSync(file);
  expect((await errorOf(gate.reloadPolicy())).code).toBe("policy_unreadable");
  writeFileSync(file, "");
  expect((await errorOf(gate.reloadPolicy())).message).toContain("the file is empty");
  expect(gate.policyRevision).toBe(policyRevision);
  expect(await pay(gate)).toMatchObject({ outcome: "allowed", policyRevision });
  writeFileSync(file, STRICT);
  expect((await gate.reloadPolicy()).outcome).toBe("loaded");
});

test("a call that is held under one policy is judged by the next when it is approved", async () => {
  const { gate, file } = await opened();
  writeFileSync(file, STRICT);
  await gate.reloadPolicy();
  const held = await pay(gate);
  writeFileSync(file, STRICT.replace("action: hitl", "action: deny"));
  await gate.reloadPolicy();
  const decided = await gate.approve(held.approvalId ?? "", { by: "ann" });
  expect(decided).toMatchObject({ outcome: "refused", policyRevision: gate.policyRevision });
  expect(held.policyRevision).not.toBe(gate.policyRevision);
});

test("tools that the program declared stay known under the next policy", async () => {
  const { gate, file } = await opened();
  const tools = gate.guard({ send_mail: (_: { to: string }) => "sent" }, { conversationId: "c" });
  writeFileSync(file, STRICT);
  await gate.reloadPolicy();
  expect(await tools.send_mail({ to: "ann" })).toBe("sent");
  writeFileSync(file, OPEN.replace("pay:", "Send_mail:"));
  const error = await errorOf(gate.reloadPolicy());
  expect(error.message).toContain(`${file}:2:3: tool_schemas.Send_mail`);
  expect(await tools.send_mail({ to: "bob" })).toBe("sent");
});

test("calls that run while policies change are decided by the whole of one each", async () => {
  const { gate, file } = await opened();
  const open = gate.policyRevision;
  writeFileSync(file, STRICT);
  await gate.reloadPolicy();
  const strict = gate.policyRevision;
  const expected = new Map([
    [open, "allowed"],
    [strict, "held"],
  ]);
  const decisions: Promise<{ outcome: string; policyRevision?: string }>[] = [];
  for (let round = 0; round < 40; round += 1) {
    for (let call = 0; call < 5; call += 1) decisions.push(pay(gate));
    await sleep(round % 3);
    writeFileSync(file, round % 2 === 0 ? OPEN : STRICT);
    await gate.reloadPolicy();
  }
  const decided = await Promise.all(decisions);
  for (const { outcome, policyRevision = "" } of decided) {
    expect(outcome).toBe(expected.get(policyRevision));
  }
  expect(new Set(decided.map(({ policyRevision }) => policyRevision))).toEqual(
    new Set([open, strict]),
  );
});

test("a watched file is loaded when it is replaced, and refused where it is broken", async () => {
  const { gate, file, news } = await opened({ watchPolicy: true });
  replace(file, STRICT);
  await heard(news, 1);
  expect(news[0]).toMatchObject({ outcome: "loaded", revision: gate.policyRevision });
  expect((await pay(gate)).outcome).toBe("held");
  replace(file, BROKEN);
  await heard(news, 2);
  expect(news[1]?.error?.problems[0]).toMatchObject({ file, line: 5, column: 3 });
  expect((await pay(gate)).outcome).toBe("held");
  replace(file, OPEN);
  await heard(news, 3);
  expect((await pay(gate)).outcome).toBe("allowed");
});

test("a watched file that is written in parts is loaded once it is whole", async () => {
  const { gate, file, news } = await opened({ watchPolicy: true });
  const { policyRevision } = gate;
  // Each part is a valid policy by itself, in which nobody may pay.
  writeFileSync(file, "tool_schemas:\n  look: { read_only: true }\n");
  for (let part = 0; part < 25; part += 1) {
    await sleep(100);
    appendFileSync(file, `  tool_${part}: {}\n`);
    expect(gate.policyRevision).toBe(policyRevision);
  }
  appendFileSync(file, STRICT.replace("tool_schemas:\n", "").replace(/ {2}look:.*\n/, ""));
  await heard(news, 1);
  expect(news[0]?.outcome).toBe("loaded");
  expect((await pay(gate)).outcome).toBe("held");
});

test("a broken watched file becomes a warning of the process where nobody listens", async () => {
  const { gate, file } = await opened({ watchPolicy: true, onPolicy: undefined });
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  replace(file, BROKEN);
  await vi.waitFor(() => expect(warnings.map(({ name }) => name)).toContain("CallgatePolicy"), {
    timeout: 20_000,
  });
  expect(warnings.at(-1)?.message).toContain(`${file}:5:3`);
  expect((await pay(gate)).outcome).toBe("allowed");
});

test("a listener that throws does not keep the policy from being loaded", async () => {
  const { gate, file } = await opened({
    onPolicy: () => {
      throw new Error("the listener is broken");
    },
  });
  writeFileSync(file, STRICT);
  expect((await gate.reloadPolicy()).outcome).toBe("loaded");
  expect((await pay(gate)).outcome).toBe("held");
});

test("options that make no sense are refused, and a closed gate loads nothing", async () => {
  const watched = openGate({ policy: {}, watchPolicy: true });
  expect((await errorOf(watched)).message).toContain("`watchPolicy` needs a policy file");
  const wrong = openGate({ policy: {}, watchPolicy: "yes" as never });
  expect((await errorOf(wrong)).message).toContain("`watchPolicy` must be true or false");
  const deaf = openGate({ policy: {}, onPolicy: "log" as never });
  expect((await errorOf(deaf)).message).toContain("`onPolicy` must be a function");
  const { gate } = await opened();
  await gate.close();
  expect((await errorOf(gate.reloadPolicy())).code).toBe("closed");
});
