/**
 * Sends an input that came on the wrong partition to that of its conversation, within the commit of
 * the inputs around it. Producers hash keys in several ways (librdkafka's default is CRC-32), and
 * only the partition of a conversation has its state.
 *
 * FORWARD-1 An input is forwarded once. One that is still on a wrong partition is `misrouted`: the
 *    number of partitions has changed, or gates disagree on it.
 * FORWARD-2 Inputs of one conversation keep the order in which one partition had them.
 */
import type { GateInput } from "../core/inputs.ts";
import type { ForwardedInput, InputPosition } from "./journal.ts";
import { partitionOf } from "./partitioner.ts";
import type { LogRecord, OutgoingRecord } from "./ports.ts";

/** Header of a forwarded input: topic, partition and offset that it came on, as `proposals/3/1234`. */
export const FORWARDED_HEADER = "callgate-forwarded-from";

type Partitions = { readonly partition: number; readonly partitions: number };

export type Route =
  | { readonly type: "here" }
  | { readonly type: "forward"; readonly partition: number }
  | { readonly type: "misrouted"; readonly message: string };

const HERE: Route = { type: "here" };

/** Where an input of the conversation with this key is decided. */
export function routeOf(
  key: string,
  { headers }: LogRecord,
  { partition, partitions }: Partitions,
): Route {
  const right = partitionOf(key, partitions);
  if (right === partition) return HERE;
  const from = headers.find(({ name }) => name === FORWARDED_HEADER);
  if (from === undefined) return { type: "forward", partition: right };
  const message =
    `the record belongs to partition ${right} of ${partitions}, and was forwarded from ${from.value} to ${partition}: ` +
    "all gates must see the same number of partitions";
  return { type: "misrouted", message };
}

/**
 * What the commit of a forwarded input writes: its journal record, and the input under the key of its
 * conversation on the right partition.
 */
export function forwardInput(record: LogRecord, at: InputPosition, key: string, partition: number) {
  const from = `${at.topic}/${at.partition}/${at.offset}`;
  const headers = [...record.headers, { name: FORWARDED_HEADER, value: from }];
  const output: OutgoingRecord = { topic: at.topic, partition, key, value: record.value, headers };
  const input: ForwardedInput = { type: "forwarded", at, partition };
  return { input, events: [], key: record.key, outputs: [output] };
}

/**
 * The input; rejected where it is a proposal on a wrong partition. One that nobody vouches for keeps
 * that reason.
 * @param message of the route; null: the partition is right.
 */
export function rejectMisrouted(input: GateInput, message: string | null): GateInput {
  if (message === null || input.type !== "proposal") return input;
  if (input.rejected?.reason === "unauthenticated") return input;
  return { ...input, rejected: { reason: "misrouted", message } };
}
