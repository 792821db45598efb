// One admin client for concurrent requests: the failure of one does not affect the others.
import { describe, expect, it, onTestFinished } from "vitest";
import { SharedAdmin } from "../../../services/adapters/kafka/topics/shared-admin.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await kafkaBackend();

/** A gate that the test opens. */
function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

async function makeWorld() {
  const { proposals } = await makeTopics(kafka.brokers, { partitions: 1 });
  const proxy = await KafkaProxy.start(kafka.brokers);
  onTestFinished(() => proxy.close());
  let clients = 0;
  const shared = new SharedAdmin(() => {
    clients += 1;
    return connectKafka(proxy.brokers, { clientId: `asker-${clients}` });
  });
  onTestFinished(() => shared.close());
  const groupId = uniqueName("asked");
  const offset = () =>
    shared.ask(async (admin) => {
      const [topic] = await admin.fetchOffsets({ groupId, topics: [proposals] });
      return topic?.partitions[0]?.offset;
    });
  const fail = () => shared.ask(() => Promise.reject(new Error("of this question alone")));
  return { proxy, shared, offset, fail, clients: () => clients };
}

describe.skipIf(!kafka.available)(`a shared admin client ${kafka.reason}`, () => {
  it("answers a request while another one fails", async () => {
    const { proxy, offset, fail, clients } = await makeWorld();
    const failed = latch();
    const deed = { type: "hold", until: failed.opened } as const;
    const { struck } = proxy.arm({ api: "OffsetFetch", deed });
    const asked = offset();
    await struck;
    await expect(fail()).rejects.toThrow("of this question alone");
    failed.open();
    expect(await asked).toBe("-1");
    expect(clients()).toBe(1);
  });

  it("answers a request in flight when it is closed, and opens a new client after a failure", async () => {
    const { proxy, shared, offset, fail, clients } = await makeWorld();
    const closed = latch();
    const deed = { type: "hold", until: closed.opened } as const;
    const { struck } = proxy.arm({ api: "OffsetFetch", deed });
    const asked = offset();
    await struck;
    await shared.close();
    closed.open();
    expect(await asked).toBe("-1");
    expect([await offset(), clients()]).toEqual(["-1", 2]);
    await expect(fail()).rejects.toThrow("of this question alone");
    expect([await offset(), clients()]).toEqual(["-1", 3]);
  });
});
