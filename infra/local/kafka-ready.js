// Waits until brokers are ready. A broker whose port answers may not be ready yet: it is once a
// transaction that commits a group offset succeeds on every partition of the two internal topics.
import { createRequire } from "node:module";

const TOPIC = "callgate-is-kafka-ready";
const COORDINATORS = 4;
const CLIENT = {
  clientId: TOPIC,
  // `logLevel.NOTHING`
  logLevel: 0,
  connectionTimeout: 1_000,
  requestTimeout: 5_000,
  retry: { initialRetryTime: 20, maxRetryTime: 200, retries: 5 },
};

/**
 * Throws until everything works; leaves nothing behind when it does.
 * @param {{ bootstrap: readonly string[], brokers: number }} options
 */
export async function assertKafkaReady({ bootstrap, brokers }) {
  // Loaded late, so that a program that patches the client can do so first.
  const { Kafka } = await import("kafkajs");
  stopIdleTimer();
  const kafka = new Kafka({ ...CLIENT, brokers: [...bootstrap] });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    if (cluster.brokers.length < brokers) {
      throw new Error(`${cluster.brokers.length} of ${brokers} brokers are there`);
    }
    await assertInSync(admin);
    const config = { topic: TOPIC, numPartitions: 1 };
    await admin.createTopics({ topics: [config], waitForLeaders: true });
    // Kafka picks a coordinator by Java's hash of the id, which counts up with the last digit.
    const ids = Array.from({ length: COORDINATORS }, (_, index) => `${TOPIC}-${index}`);
    for (const id of ids) await commitOffset(kafka, id);
    await admin.deleteGroups(ids);
    await admin.deleteTopics({ topics: [TOPIC] });
  } finally {
    await admin.disconnect();
  }
}

let isStopped = false;

/**
 * After each answer kafkajs sets a timer with a negative time-out although no request is pending, and Node
 * 22 and later print a warning. This is the patch of services/adapters/kafka/patches/idle-timer.ts, which is
 * not built yet where this runs.
 */
function stopIdleTimer() {
  if (isStopped) return;
  isStopped = true;
  const { prototype } = createRequire(import.meta.url)("kafkajs/src/network/requestQueue");
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleIfPending() {
    if (this.pending.length > 0) schedule.call(this);
  };
}

/** @param {import("kafkajs").Admin} admin */
async function assertInSync(admin) {
  const { topics } = await admin.fetchTopicMetadata();
  for (const { name, partitions } of topics) {
    const late = partitions.find(({ isr, replicas }) => isr.length < replicas.length);
    if (late !== undefined) {
      throw new Error(`a replica of ${name}-${late.partitionId} is not in sync yet`);
    }
  }
}

/**
 * @param {import("kafkajs").Kafka} kafka
 * @param {string} id of a group and of a transactional producer
 */
async function commitOffset(kafka, id) {
  const producer = kafka.producer({
    transactionalId: id,
    idempotent: true,
    maxInFlightRequests: 1,
    transactionTimeout: 10_000,
    retry: CLIENT.retry,
  });
  await producer.connect();
  try {
    const empty = await producer.transaction();
    await empty.abort();
    const transaction = await producer.transaction();
    const partitions = [{ partition: 0, offset: "0" }];
    const topics = [{ topic: TOPIC, partitions }];
    await transaction.sendOffsets({ consumerGroupId: id, topics });
    await transaction.commit();
  } finally {
    await producer.disconnect();
  }
}
