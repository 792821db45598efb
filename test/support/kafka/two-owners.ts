// Two gates that each believe to own a partition: the first has lost its group and does not know.
import { onTestFinished } from "vitest";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { KafkaGate } from "../../../services/gate/open-kafka-gate.ts";
import { uniqueName } from "../backends/unique-name.ts";
import { KafkaProxy } from "../kafka-proxy/kafka-proxy.ts";
import { until } from "../runtime-kit.ts";
import { makeTopics, openTestLog } from "./test-cluster.ts";
import {
  isReady,
  JOURNAL_RETENTION,
  openTestGate,
  ownedBy,
  propose,
  SHORT_SESSION_MS,
  type TestGateChoices,
  untilDecided,
  untilReady,
} from "./test-gate.ts";

export type CountedGate = { readonly gate: KafkaGate; readonly counts: Map<string, number> };

/** A gate with the proxy between it and the brokers. */
export type ProxiedGate = CountedGate & { readonly proxy: KafkaProxy };

export type World = {
  readonly brokers: readonly string[];
  readonly names: TopicNames;
  readonly log: KafkaLog;
  readonly group: string;
};

export async function makeWorld(brokers: readonly string[], partitions: number): Promise<World> {
  const names = await makeTopics(brokers, { partitions, config: JOURNAL_RETENTION });
  const log = await openTestLog(brokers, names);
  onTestFinished(() => log.close());
  return { brokers, names, log, group: uniqueName("gates") };
}

/** Started and in the group, but perhaps not ready. */
export async function startCounted(
  { brokers, names, group }: World,
  through: readonly string[] = brokers,
  choices: Pick<TestGateChoices, "sessionTimeoutMs"> = {},
): Promise<CountedGate> {
  const counts = new Map<string, number>();
  const gate = await openTestGate(through, names, { ...choices, group, counts });
  onTestFinished(() => gate.stop());
  await gate.host.start();
  return { gate, counts };
}

/** Decides the calls 0 to 9, and then gets no more answers of its group, but all other answers. */
export async function startUnaware(world: World): Promise<ProxiedGate> {
  const proxy = await KafkaProxy.start(world.brokers);
  onTestFinished(() => proxy.close());
  const first = await startCounted(world, proxy.brokers, {
    sessionTimeoutMs: SHORT_SESSION_MS,
  });
  await untilReady(first.gate);
  await propose(world.log, 0, 10);
  await untilDecided(world.log, 10);
  for (const api of ["Heartbeat", "JoinGroup"] as const) {
    const never = new Promise<void>(() => undefined);
    proxy.arm({
      api,
      times: Number.POSITIVE_INFINITY,
      deed: { type: "answer", make: () => Buffer.alloc(0), after: never },
    });
  }
  return { ...first, proxy };
}

/** The group assigns the partition to the second gate when the first was idle for a session. */
export async function untilTaken({ gate }: CountedGate): Promise<void> {
  await until(() => ownedBy(gate).length === 1 && isReady(gate));
}
