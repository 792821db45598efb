/**
 * Loads kafkajs 2.2.4 with its defects patched. Each defect has a file, which describes the defect,
 * the upstream report and the patch. Other files may only `import type` from kafkajs. A program
 * that embeds us and uses kafkajs gets the published package, since the patches change a private
 * copy (private-package.ts).
 */
import type * as Kafkajs from "kafkajs";
import { assembleRequest } from "./assemble-request.ts";
import { endBrokenConnections } from "./broken-responses.ts";
import { waitForTransactionBefore } from "./concurrent-transactions.ts";
import { cacheCoordinators } from "./coordinator-cache.ts";
import { throwCoordinatorRefusals } from "./coordinator-refusals.ts";
import { leaveDeadSockets } from "./dead-sockets.ts";
import { groupByPartition } from "./group-by-partition.ts";
import { stopIdleTimer } from "./idle-timer.ts";
import { surviveLostBrokers } from "./lost-brokers.ts";
import { forgetPartialResponses } from "./partial-responses.ts";
import { PrivatePackage } from "./private-package.ts";
import { createProduceRequest } from "./produce-request.ts";
import { applyClientRetry } from "./producer-retry.ts";
import { throwRefusedTopic } from "./refused-topic.ts";
import { rememberEnded, sendOnceEach } from "./send-messages.ts";

const copy = new PrivatePackage("kafkajs");

/** The order matters: a module that others capture at load time is patched before they load. */
function patchAll(): void {
  replace("protocol/request", assembleRequest);
  endBrokenConnections(internal("network/connection"));
  waitForTransactionBefore(internal("broker"));
  cacheCoordinators(internal("cluster"), internal("network/connectionPool"));
  throwCoordinatorRefusals(internal("cluster"));
  leaveDeadSockets(internal("network/connection"));
  replace("producer/groupMessagesPerPartition", groupByPartition);
  stopIdleTimer(internal("network/requestQueue"));
  surviveLostBrokers(internal("cluster/brokerPool"), internal("errors"));
  forgetPartialResponses(internal("network/connection"));
  replace("protocol/requests/produce/v3/request", createProduceRequest);
  replace("cluster", applyClientRetry(internal("cluster")));
  throwRefusedTopic(internal("protocol/requests/addPartitionsToTxn/v0/response"));
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

/** Loads a private module of the patched kafkajs. */
export function loadInternal<T>(path: string): T {
  loadKafkajs();
  return internal(path);
}

function internal(path: string): never {
  return copy.load(`src/${path}`) as never;
}

/** Only modules that load afterwards get the replacement. */
function replace(path: string, replacement: unknown): void {
  copy.replace(`src/${path}`, replacement);
}
