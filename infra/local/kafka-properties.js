// server.properties of the local brokers: one broker, or a small cluster where each is also controller.

/**
 * @typedef {{ host: string, port: number }} Address
 * @typedef {{
 *   id: number,
 *   port: number,
 *   directPort: number,
 *   controllerPort: number,
 *   advertised: Address,
 * }} BrokerPorts
 */

const HOST = "127.0.0.1";
const COPIES_MAX = 3;
const RETENTION_HOURS = 240;
const INTERNAL_PARTITIONS = 4;

/** @param {Record<string, string | number>} properties */
export function formatProperties(properties) {
  return `${Object.entries(properties)
    .map(([key, value]) => `${key}=${value}`)
    .join("\n")}\n`;
}

/**
 * Properties that all brokers share. Replication factors are set for the number of brokers; Kafka's own
 * defaults wait for three.
 * @param {number} brokers
 * @param {boolean} hasShareGroups Kafka 4 has one more internal topic
 */
function commonProperties(brokers, hasShareGroups) {
  const copies = Math.min(brokers, COPIES_MAX);
  const inSyncMin = Math.max(1, copies - 1);
  return {
    "process.roles": "broker,controller",
    "inter.broker.listener.name": "DIRECT",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CLIENT:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "log.message.timestamp.type": "LogAppendTime",
    "log.retention.hours": RETENTION_HOURS,
    "default.replication.factor": copies,
    "min.insync.replicas": inSyncMin,
    "offsets.topic.replication.factor": copies,
    "offsets.topic.num.partitions": INTERNAL_PARTITIONS,
    "transaction.state.log.replication.factor": copies,
    "transaction.state.log.min.isr": inSyncMin,
    "transaction.state.log.num.partitions": INTERNAL_PARTITIONS,
    ...(hasShareGroups
      ? {
          "share.coordinator.state.topic.replication.factor": copies,
          "share.coordinator.state.topic.min.isr": inSyncMin,
          "share.coordinator.state.topic.num.partitions": 1,
        }
      : {}),
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1_000,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1_000,
  };
}

/**
 * The properties of one broker, with three listeners. Clients get CLIENT, which may lead through a proxy.
 * DIRECT is for the brokers among themselves, and for tests that go around the proxy. CONTROLLER is Kafka's.
 * @param {{
 *   broker: BrokerPorts,
 *   all: readonly BrokerPorts[],
 *   dataFolder: string,
 *   hasShareGroups: boolean,
 *   properties: Readonly<Record<string, string | number>>,
 * }} options `properties` override ours
 */
export function brokerProperties({ broker, all, dataFolder, hasShareGroups, properties }) {
  const { id, port, directPort, controllerPort, advertised } = broker;
  const voters = all.map((other) => `${other.id}@${HOST}:${other.controllerPort}`);
  return formatProperties({
    ...commonProperties(all.length, hasShareGroups),
    "node.id": id,
    "controller.quorum.voters": voters.join(","),
    listeners: [
      `CLIENT://${HOST}:${port}`,
      `DIRECT://${HOST}:${directPort}`,
      `CONTROLLER://${HOST}:${controllerPort}`,
    ].join(","),
    "advertised.listeners": [
      `CLIENT://${advertised.host}:${advertised.port}`,
      `DIRECT://${HOST}:${directPort}`,
    ].join(","),
    "log.dirs": dataFolder,
    ...properties,
  });
}

/** For both logging libraries: Kafka 3.9 has log4j 1, Kafka 4 has log4j 2. */
export const LOGGING = {
  "log4j.properties": formatProperties({
    "log4j.rootLogger": "WARN, out",
    "log4j.appender.out": "org.apache.log4j.ConsoleAppender",
    "log4j.appender.out.layout": "org.apache.log4j.PatternLayout",
    "log4j.appender.out.layout.ConversionPattern": "%d %p %c %m%n",
  }),
  "log4j2.properties": formatProperties({
    "rootLogger.level": "warn",
    "rootLogger.appenderRefs": "out",
    "rootLogger.appenderRef.out.ref": "out",
    "appender.out.type": "Console",
    "appender.out.name": "out",
    "appender.out.layout.type": "PatternLayout",
    "appender.out.layout.pattern": "%d %p %c %m%n",
  }),
};
