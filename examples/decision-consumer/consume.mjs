// Reads the gate's decisions from Kafka: which calls were refused, and which wait for a person. It
// needs nothing of Callgate. Run `npm install kafkajs @kafkajs/confluent-schema-registry`, and set
// KAFKA_BROKERS and SCHEMA_REGISTRY_URL. `node consume.mjs 5` ends after five decisions.
import registryPackage from "@kafkajs/confluent-schema-registry";
import kafkaPackage from "kafkajs";

const { KAFKA_BROKERS = "127.0.0.1:9092", SCHEMA_REGISTRY_URL = "http://127.0.0.1:8081" } =
  process.env;
const stopAfter = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);

const registry = new registryPackage.SchemaRegistry({ host: SCHEMA_REGISTRY_URL });
const kafka = new kafkaPackage.Kafka({
  clientId: "decision-consumer",
  brokers: KAFKA_BROKERS.split(","),
  logLevel: kafkaPackage.logLevel.ERROR,
});
// Use a group of your own: its offsets record how far you have read. kafkajs reads only committed
// records by default, and a decision counts once its transaction has committed.
const consumer = kafka.consumer({ groupId: "decision-consumer" });

/** @typedef {{ conversationId: string, call: { tool: string } }} Decision */

/** What is printed of a record of each topic; docs/schemas.md has the whole of each record. */
const describe = {
  /** @param {Decision & { refusal: { reason: string, message: string } }} refused */
  "toolcalls.refused.v1": ({ conversationId, call, refusal }) =>
    `refused ${conversationId} ${call.tool}: ${refusal.reason}: ${refusal.message}`,
  /** @param {Decision & { approvalId: string }} held */
  "toolcalls.held.v1": ({ conversationId, call, approvalId }) =>
    `waits   ${conversationId} ${call.tool}: callgate approvals approve ${approvalId}`,
};

let seen = 0;
let stop = () => {};
const enough = new Promise((/** @type {(value: void) => void} */ resolve) => {
  stop = resolve;
});
process.once("SIGINT", stop).once("SIGTERM", stop);

await consumer.connect();
await consumer.subscribe({ topics: Object.keys(describe), fromBeginning: true });
await consumer.run({
  // After a crash it is called again for the same record, so your code must tolerate repeats.
  eachMessage: async ({ topic, message }) => {
    if (message.value === null) return;
    const record = await registry.decode(message.value);
    console.log(describe[/** @type {keyof typeof describe} */ (topic)](record));
    seen += 1;
    if (seen >= stopAfter) stop();
  },
});
await enough;
await consumer.disconnect();
