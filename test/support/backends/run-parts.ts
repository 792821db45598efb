// The parts of one test run. Its main process finds or starts each one when a test first asks, in the order
// of CONTRIBUTING.md, and `close` ends them. Local servers end with the process, however it ends.
import { startKafka } from "../../../infra/local/start-kafka.js";
import { startRedis } from "../../../infra/local/start-redis.js";
import { startRegistry } from "../../../infra/local/start-registry.js";
import type { PartAnswer, PartName } from "./backend.ts";
import {
  findFetchedKafka,
  findObstacle,
  wantedBrokers,
  wantedTransactionVersion,
} from "./local-parts.ts";
import type { StartedPart } from "./start-container.ts";

const VARIABLES: Readonly<Record<PartName, string>> = {
  kafka: "KAFKA_BROKERS",
  redis: "REDIS_URL",
  registry: "SCHEMA_REGISTRY_URL",
};

async function startLocal(part: PartName): Promise<StartedPart> {
  if (part === "kafka") {
    const version = findFetchedKafka();
    const transactionVersion = wantedTransactionVersion();
    const kafka = await startKafka({
      ...{ transactionVersion, brokers: wantedBrokers() },
      ...(version === undefined ? {} : { version }),
    });
    return { address: kafka.bootstrap.join(","), stop: () => kafka.stop() };
  }
  const { url, stop } = await (part === "redis" ? startRedis() : startRegistry());
  return { address: url, stop };
}

export class RunParts {
  readonly #asked = new Map<PartName, Promise<PartAnswer>>();
  readonly #stops: (() => Promise<unknown>)[] = [];

  /** Rejects when a part that should start does not: that is no reason to skip. */
  ask(part: PartName): Promise<PartAnswer> {
    const asked = this.#asked.get(part) ?? this.#find(part);
    this.#asked.set(part, asked);
    return asked;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#asked.values());
    await Promise.all(this.#stops.map((stop) => stop()));
  }

  async #find(part: PartName): Promise<PartAnswer> {
    const variable = VARIABLES[part];
    const address = process.env[variable];
    if (address !== undefined && address !== "") {
      return { available: true, address: address, how: variable };
    }
    const obstacle = findObstacle(part);
    if (obstacle === undefined) {
      return this.#keep(await startLocal(part), "started locally");
    }
    const containers = await import("./start-container.ts");
    const noEngine = await containers.findEngineObstacle();
    if (noEngine === undefined) {
      return this.#keep(await containers.startContainer(part), "started in a container");
    }
    const reason = `${variable} is not set; ${obstacle}; no container engine: ${noEngine}`;
    return { available: false, reason };
  }

  #keep({ address, stop }: StartedPart, how: string): PartAnswer {
    this.#stops.push(stop);
    return { available: true, address, how };
  }
}
