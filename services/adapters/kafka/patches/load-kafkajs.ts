/**
 * kafkajs 2.2.4 with its defects patched: one file each, which says what is wrong and whether kafkajs
 * was told. It is loaded here and nowhere else: `import type` only outside this file. A program around
 * us that uses kafkajs has it as it is published (kafkajs-internals.ts).
 */
import type * as Kafkajs from "kafkajs";
import { assembleRequest } from "./assemble-request.ts";
import { endBrokenConnections } from "./broken-responses.ts";
import { waitForTransactionBefore } from "./concurrent-transactions.ts";
import { cacheCoordinators } from "./coordinator-cache.ts";
import { tellCoordinatorRefusals } from "./coordinator-refusals.ts";
import { leaveDeadSockets } from "./dead-sockets.ts";
import { groupByPartition } from "./group-by-partition.ts";
import { stopIdleTimer } from "./idle-timer.ts";
import { surviveLostBrokers } from "./lost-brokers.ts";
import { forgetPartialResponses } from "./partial-responses.ts";
import { PrivatePackage } from "./private-package.ts";
import { createProduceRequest } from "./produce-request.ts";
import { tellRetry } from "./producer-retry.ts";
import { tellRefusedTopic } from "./refused-topic.ts";
import { rememberEnded, sendOnceEach } from "./send-messages.ts";

const copy = new PrivatePackage("kafkajs");

/** Patches of modules that others capture as they load come before whatever loads those. */
function patchAll(): void {
  replace("protocol/request", assembleRequest);
  endBrokenConnections(internal("network/connection"));
  waitForTransactionBefore(internal("broker"));
  cacheCoordinators(internal("cluster"), internal("network/connectionPool"));
  tellCoordinatorRefusals(internal("cluster"));
  leaveDeadSockets(internal("network/connection"));
  replace("producer/groupMessagesPerPartition", groupByPartition);
  stopIdleTimer(internal("network/requestQueue"));
  surviveLostBrokers(internal("cluster/brokerPool"), internal("errors"));
  forgetPartialResponses(internal("network/connection"));
  replace("protocol/requests/produce/v3/request", createProduceRequest);
  replace("cluster", tellRetry(internal("cluster")));
  tellRefusedTopic(internal("protocol/requests/addPartitionsToTxn/v0/response"));
  sendMessagesOnce();
}

function sendMessagesOnce(): void {
  const isEnded = rememberEnded(internal("cluster"));
  const send = sendOnceEach(internal("errors"), internal("protocol/error"), isEnded);
  replace("producer/sendMessages", send);
}

let loaded: typeof Kafkajs | undefined;

export function loadKafkajs(): typeof Kafkajs {
  if (loaded === undefined) {
    patchAll();
    loaded = copy.load() as typeof Kafkajs;
  }
  return loaded;
}

/** A module of kafkajs that is not part of its public interface, patched. */
export function loadInternal<T>(path: string): T {
  loadKafkajs();
  return internal(path);
}

function internal(path: string): never {
  return copy.load(`src/${path}`) as never;
}

/** Only what is loaded afterwards gets the replacement. */
function replace(path: string, replacement: unknown): void {
  copy.replace(`src/${path}`, replacement);
}
