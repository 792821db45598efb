// Starts a part in a container, where an engine answers and the part cannot be started locally.
import { KafkaContainer } from "@testcontainers/kafka";
import { GenericContainer, getContainerRuntimeClient, Wait } from "testcontainers";
import { VERSIONS } from "../../../infra/local/versions.js";
import type { PartName } from "./backend.ts";

const REDIS_PORT = 6_379;
const REGISTRY_PORT = 8_080;
const KAFKA_CLIENT_PORT = 9_093;

export type StartedPart = { readonly address: string; readonly stop: () => Promise<unknown> };

/** Why no container can be started; undefined: it can be. */
export async function findEngineObstacle(): Promise<string | undefined> {
  try {
    await getContainerRuntimeClient();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const { images } = VERSIONS;

async function startKafka(): Promise<StartedPart> {
  const container = await new KafkaContainer(images["kafka-for-tests"])
    .withKraft()
    .withEnvironment({
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: "1",
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: "false",
      KAFKA_LOG_MESSAGE_TIMESTAMP_TYPE: "LogAppendTime",
      KAFKA_LOG_RETENTION_HOURS: "240",
    })
    .start();
  const address = `${container.getHost()}:${container.getMappedPort(KAFKA_CLIENT_PORT)}`;
  return { address, stop: () => container.stop() };
}

async function startRedis(): Promise<StartedPart> {
  const container = await new GenericContainer(images.redis)
    .withExposedPorts(REDIS_PORT)
    .withWaitStrategy(Wait.forLogMessage("Ready to accept connections"))
    .start();
  const address = `redis://${container.getHost()}:${container.getMappedPort(REDIS_PORT)}`;
  return { address, stop: () => container.stop() };
}

async function startRegistry(): Promise<StartedPart> {
  const path = "/apis/ccompat/v7";
  const container = await new GenericContainer(images.registry)
    .withExposedPorts(REGISTRY_PORT)
    .withWaitStrategy(Wait.forHttp(`${path}/subjects`, REGISTRY_PORT))
    .start();
  const port = container.getMappedPort(REGISTRY_PORT);
  return { address: `http://${container.getHost()}:${port}${path}`, stop: () => container.stop() };
}

export function startContainer(part: PartName): Promise<StartedPart> {
  const starters = { kafka: startKafka, redis: startRedis, registry: startRegistry };
  return starters[part]();
}
