// A remote gate whose log hangs: each request about a call that is not in memory ends in its time.
import { expect, onTestFinished, test, vi } from "vitest";
import { secretFrom } from "../../../services/adapters/config/secret-file.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { Callgate } from "../../../services/client/api/callgate.ts";
import { composeCallgate } from "../../../services/client/compose-callgate.ts";
import { GateClient } from "../../../services/client/gate-client.ts";
import { JournalReplies } from "../../../services/client/journal/journal-replies.ts";
import { linkToRemote } from "../../../services/client/remote-link.ts";
import { type Embedded, openEmbedded } from "../../../services/library/open-embedded.ts";
import type { Log } from "../../../services/runtime/ports.ts";

const SECRET = "a secret that is long enough";
const TIMEOUT_MS = 100;
const tiers = [{ name: "asked", pattern: "wire", action: "hitl" }];
const POLICY = { tool_schemas: { pay: {}, wire: {} }, authorization: { tiers } };
const CALL = { conversationId: "c1", turn: 1, arguments: {} };
/** The check for overdue answers adds at most a quarter of a second. */
const LATE_MS = TIMEOUT_MS + 1_000;

type Hangs = (name: string, args: readonly unknown[]) => boolean;

type ConnectOptions = {
  readonly timeoutMs?: number;
  readonly secrets?: ReadonlyMap<string, Uint8Array>;
};

function connect({ log, codec }: Embedded, hangs: Hangs, options: ConnectOptions = {}) {
  const { timeoutMs = TIMEOUT_MS, secrets = new Map() } = options;
  const hanging = new Proxy(log, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]): unknown =>
        hangs(String(name), args) ? new Promise(() => undefined) : value.apply(target, args);
    },
  });
  const close = async (): Promise<void> => undefined;
  const link = linkToRemote({
    ...{ log: hanging as Log, codec, clock: systemClock, secrets, close, abandon: () => undefined },
  });
  const gate = composeCallgate(link, new GateClient(link, { timeoutMs, onLost: undefined }));
  onTestFinished(() => gate.close({ timeoutMs: 20 }));
  return { gate, log };
}

function secretsOf(text: string): ReadonlyMap<string, Uint8Array> {
  const parsed = secretFrom(text);
  if (!parsed.ok) throw new Error("the secret is not one");
  return new Map([[parsed.secret.keyId, parsed.secret.bytes]]);
}

/** A held and an allowed call, which a client that connects later does not have. */
async function decided() {
  const embedded = await openEmbedded({
    policy: { document: POLICY },
    dataDir: false,
    secret: SECRET,
  });
  onTestFinished(() => embedded.close());
  const { gate } = connect(embedded, () => false);
  const held = await gate.propose({ ...CALL, callId: "1", tool: "wire" });
  const allowed = await gate.propose({ ...CALL, callId: "2", tool: "pay" });
  const { approvalId = "" } = held;
  return { embedded, approvalId, decisionId: allowed.decisionId ?? "" };
}

const QUESTIONS = {
  approve: (gate: Callgate, { approvalId }) => gate.approve(approvalId, { by: "ann" }),
  deny: (gate, { approvalId }) => gate.deny(approvalId, { by: "ann" }),
  report: (gate, { decisionId }) => gate.report(decisionId, { status: "succeeded" }),
  previousResult: (gate, { decisionId }) => gate.previousResult(decisionId),
} as const satisfies Record<
  string,
  (gate: Callgate, ids: Awaited<ReturnType<typeof decided>>) => Promise<unknown>
>;

async function failureOf(question: Promise<unknown>) {
  const fromMs = performance.now();
  const error: unknown = await question.catch((thrown: unknown) => thrown);
  expect(performance.now() - fromMs).toBeLessThan(LATE_MS);
  return error;
}

test.each(Object.entries(QUESTIONS))(
  "%s ends in its time if the journal cannot be searched",
  async (_, ask) => {
    const ids = await decided();
    const { gate } = connect(ids.embedded, () => true);
    expect(await failureOf(ask(gate, ids))).toMatchObject({
      code: "timeout",
      message: expect.stringContaining(`within ${TIMEOUT_MS} ms`),
    });
  },
);

test("the time of a search counts against the wait for the answer", async () => {
  const { embedded, approvalId, decisionId } = await decided();
  const { gate } = connect(embedded, () => false, { timeoutMs: 5_000 });
  const { log } = embedded;
  const startOffset = log.startOffset.bind(log);
  vi.spyOn(log, "startOffset").mockImplementation(async (...args) => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return startOffset(...args);
  });
  const send = vi.spyOn(JournalReplies.prototype, "send");
  onTestFinished(() => send.mockRestore());
  await gate.report(decisionId, { status: "succeeded" });
  await gate.deny(approvalId, { by: "ann" });
  const left = send.mock.calls.map(([_input, _ready, leftMs]) => leftMs ?? 5_000);
  expect(left).toHaveLength(2);
  expect(Math.max(...left)).toBeLessThan(4_950);
});

test("a guarded call is refused in its time if its claimant cannot be read", async () => {
  const { embedded, decisionId } = await decided();
  let isClaimed = false;
  const { gate, log } = connect(embedded, (name) => isClaimed && name === "startOffset", {
    secrets: secretsOf(SECRET),
  });
  const other = connect(embedded, () => false).gate;
  await other.report(decisionId, { status: "started" });
  const append = log.append.bind(log);
  vi.spyOn(log, "append").mockImplementation((records) => {
    isClaimed ||= records.some(({ topic }) => topic === "results");
    return append(records);
  });
  const { pay } = gate.guard({ pay: () => "paid" }, { conversationId: "c1", turn: 1 });
  const fromMs = performance.now();
  expect(await pay({}, { callId: "2" })).toMatchObject({
    reason: "gate_unavailable",
    detail: "timeout",
  });
  expect(isClaimed).toBe(true);
  expect(performance.now() - fromMs).toBeLessThan(LATE_MS);
});
