/**
 * kafkajs 2.2.4 with its known faults mended. Everything that is patched is listed here, each in a
 * file of its own that says what the fault is.
 *
 * Some mends take the place of a module that others capture when they load, so ours is a copy that nobody else
 * has: a program around us may use kafkajs itself, and has it unmended. It is loaded here and nowhere else:
 * `import type` only outside this file.
 */
import type * as Kafkajs from "kafkajs";
import { filterAborted } from "./mends/aborted-filter.ts";
import { assembleRequest } from "./mends/assemble-request.ts";
import { endBrokenConnections } from "./mends/broken-responses.ts";
import { waitForTransactionBefore } from "./mends/concurrent-transactions.ts";
import { cacheCoordinators } from "./mends/coordinator-cache.ts";
import { tellCoordinatorRefusals } from "./mends/coordinator-refusals.ts";
import { leaveDeadSockets } from "./mends/dead-sockets.ts";
import { rememberEnded } from "./mends/ended-clusters.ts";
import { groupByPartition } from "./mends/group-by-partition.ts";
import { stopIdleTimer } from "./mends/idle-timer.ts";
import { surviveLostBrokers } from "./mends/lost-brokers.ts";
import { forgetPartialResponses } from "./mends/partial-responses.ts";
import { createProduceRequest } from "./mends/produce-request.ts";
import { tellRetry } from "./mends/producer-retry.ts";
import { tellRefusedTopic } from "./mends/refused-topic.ts";
import { sendOnceEach } from "./mends/send-messages.ts";
import { PrivatePackage } from "./private-package.ts";

const copy = new PrivatePackage("kafkajs");

const MENDS = {
  "aborted-filter": () => replace("consumer/filterAbortedMessages", filterAborted),
  // Before anything that loads connections: they keep what they find.
  "assemble-request": () => replace("protocol/request", assembleRequest),
  "broken-responses": () => endBrokenConnections(internal("network/connection")),
  "concurrent-transactions": () => waitForTransactionBefore(internal("broker")),
  "coordinator-cache": () => cacheCoordinators(internal("cluster"), internal("broker")),
  "coordinator-refusals": () => tellCoordinatorRefusals(internal("cluster")),
  "dead-sockets": () => leaveDeadSockets(internal("network/connection")),
  "group-by-partition": () => replace("producer/groupMessagesPerPartition", groupByPartition),
  "idle-timer": () => stopIdleTimer(internal("network/requestQueue")),
  "lost-brokers": () => surviveLostBrokers(internal("cluster/brokerPool"), internal("errors")),
  "partial-responses": () => forgetPartialResponses(internal("network/connection")),
  "produce-request": () => replace("protocol/requests/produce/v3/request", createProduceRequest),
  "producer-retry": () => replace("cluster", tellRetry(internal("cluster"))),
  "refused-topic": () =>
    tellRefusedTopic(internal("protocol/requests/addPartitionsToTxn/v0/response")),
  "send-messages": () =>
    replace(
      "producer/sendMessages",
      sendOnceEach(
        internal("errors"),
        internal("protocol/error"),
        rememberEnded(internal("cluster")),
      ),
    ),
} as const;

export type Mend = keyof typeof MENDS;

let loaded: { readonly kafkajs: typeof Kafkajs; readonly without: string } | undefined;

/**
 * @param without mends to leave out, so that a test can show the fault. The first call in a process
 *   decides; another that wants something else is a programming error.
 */
export function loadKafkajs(without: readonly Mend[] = []): typeof Kafkajs {
  const key = [...without].sort().join();
  if (loaded === undefined) {
    for (const name of Object.keys(MENDS) as Mend[]) {
      if (!without.includes(name)) MENDS[name]();
    }
    loaded = { kafkajs: copy.load() as typeof Kafkajs, without: key };
  } else if (without.length > 0 && loaded.without !== key) {
    throw new Error(`kafkajs is already loaded without [${loaded.without}]`);
  }
  return loaded.kafkajs;
}

/** What kafkajs connects with, unless it is told otherwise. */
export function defaultSockets(): Kafkajs.ISocketFactory {
  return (internal("network/socketFactory") as () => Kafkajs.ISocketFactory)();
}

function internal(path: string): never {
  return copy.load(`src/${path}`) as never;
}

/** Only what is loaded afterwards gets the replacement: this runs before the rest of kafkajs is loaded. */
function replace(path: string, replacement: unknown): void {
  copy.replace(`src/${path}`, replacement);
}
