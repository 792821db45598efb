import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { Handler } from "../../../services/client/calls/run-call.ts";
import { GateClient } from "../../../services/client/gate-client.ts";
import { ExecutorHost } from "../../../services/executor/executor-host.ts";
import { linkToEmbedded } from "../../../services/library/embedded-link.ts";
import { openEmbedded } from "../../../services/library/open-embedded.ts";
import type { Assignment, Membership } from "../../../services/runtime/membership.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";

/** A group whose assignments the test controls. */
class TestMembership implements Membership {
  assignment: Assignment = { epoch: 0, partitions: [] };
  readonly isShared = true;
  joined = false;
  left = false;
  readonly failed = new Promise<Error>(() => undefined);
  #listener: (assignment: Assignment) => void = () => undefined;

  async join(listener: (assignment: Assignment) => void): Promise<void> {
    this.#listener = listener;
    this.joined = true;
  }

  give(partitions: readonly number[]): void {
    this.assignment = { epoch: this.assignment.epoch + 1, partitions };
    this.#listener(this.assignment);
  }

  async leave(): Promise<void> {
    this.joined = false;
    this.left = true;
  }
}

async function setUp(handlers: Readonly<Record<string, Handler>>) {
  const policy = { document: { tool_schemas: { pay: {} } } };
  const embedded = await openEmbedded({ policy, dataDir: false });
  onTestFinished(() => embedded.close());
  const client = new GateClient(linkToEmbedded(embedded), { timeoutMs: 10_000, onLost: undefined });
  const propose = async (callId: string) => {
    const call = { conversationId: "c1", callId, tool: "pay", arguments: { order: callId } };
    return (await client.propose(call)).decision.decisionId ?? "";
  };
  const { log, codec } = embedded;
  const start = async (membership: Membership) => {
    const parts = { log, codec, clock: systemClock, logger: quietLogger, handlers, membership };
    const host = new ExecutorHost({ ...parts, ownership: null, parallelCalls: 10 });
    onTestFinished(async () => {
      await host.stop(0);
    });
    await host.start();
    return host;
  };
  return { client, propose, start };
}

test("calls of a revoked partition run to their end, and no new ones begin", async () => {
  const begun: string[] = [];
  let end: () => void = () => undefined;
  const pay: Handler = ({ order }) => {
    begun.push(String(order));
    return new Promise((resolve) => {
      end = () => resolve("paid");
    });
  };
  const { client, propose, start } = await setUp({ pay });
  const membership = new TestMembership();
  const host = await start(membership);
  expect(host.status()).toEqual({ ready: true, joined: true, partitions: [] });
  membership.give([0]);
  const first = await propose("1");
  await expect.poll(() => begun).toEqual(["1"]);
  expect(host.status().partitions).toEqual([{ partition: 0, state: "running", error: null }]);
  membership.give([]);
  await propose("2");
  expect(host.status().partitions).toEqual([]);
  end();
  expect(await client.reader.awaitResult(first, {})).toMatchObject({ status: "succeeded" });
  expect(begun).toEqual(["1"]);
  // The partition is ours again: waiting calls run.
  membership.give([0]);
  await expect.poll(() => begun).toEqual(["1", "2"]);
  end();
});

test("stopping waits only for running calls, then leaves the group", async () => {
  const { client, propose, start } = await setUp({
    pay: () => new Promise((resolve) => setTimeout(() => resolve("paid"), 50)),
  });
  const membership = new TestMembership();
  const host = await start(membership);
  membership.give([0]);
  const paid = await propose("1");
  await expect
    .poll(async () => (await client.report(paid, { status: "started" })).recorded)
    .toBe(false);
  expect(await host.stop(10_000)).toBe(true);
  expect(membership.left).toBe(true);
  expect(await client.reader.awaitResult(paid, {})).toMatchObject({ status: "succeeded" });
  expect(host.status().ready).toBe(false);
});

test("stopping reports that calls were aborted with an unknown outcome", async () => {
  const { client, propose, start } = await setUp({ pay: () => new Promise(() => undefined) });
  const membership = new TestMembership();
  const host = await start(membership);
  membership.give([0]);
  const paid = await propose("1");
  await expect
    .poll(async () => (await client.report(paid, { status: "started" })).recorded)
    .toBe(false);
  expect(await host.stop(50)).toBe(false);
  expect(membership.left).toBe(true);
  expect(await client.reader.awaitResult(paid, {})).toMatchObject({ status: "unknown" });
});

test.each([2 ** 31, Number.POSITIVE_INFINITY])(
  "stopping within %d ms waits for running calls, although a plain timer would fire at once",
  async (timeoutMs) => {
    const { client, propose, start } = await setUp({
      pay: () => new Promise((resolve) => setTimeout(() => resolve("paid"), 100)),
    });
    const membership = new TestMembership();
    const host = await start(membership);
    membership.give([0]);
    const paid = await propose("1");
    await expect
      .poll(async () => (await client.report(paid, { status: "started" })).recorded)
      .toBe(false);
    expect(await host.stop(timeoutMs)).toBe(true);
    expect(await client.reader.awaitResult(paid, {})).toMatchObject({ status: "succeeded" });
  },
);
