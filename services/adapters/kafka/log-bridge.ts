import type { logCreator } from "kafkajs";
import type { Logger } from "../../runtime/ports.ts";

/** Single answers that are tried again, and advice that does not fit a bounded retry. */
const EXPECTED = /^(Response |Limiting retries )/;
const PLAIN_FIELDS = ["broker", "groupId", "error", "retryCount", "retryTime", "memberId"];
const MESSAGE_MAX = 300;
/** A broker that is away is told of again after this time, not at each of many tries. */
const REPEAT_MS = 5_000;
const REMEMBERED_MAX = 100;

/**
 * kafkajs logs as errors what it then tries again, so nothing is more than a warning here: what ends in
 * an error is thrown. Only fields known to be plain are taken over; buffers and credentials never are.
 */
export function bridgeTo(logger: Logger): logCreator {
  const toldAtMs = new Map<string, number>();
  const isRepeated = (text: string): boolean => {
    const nowMs = Date.now();
    const before = toldAtMs.get(text);
    if (before !== undefined && nowMs - before < REPEAT_MS) return true;
    if (toldAtMs.size >= REMEMBERED_MAX) toldAtMs.clear();
    toldAtMs.set(text, nowMs);
    return false;
  };
  return () =>
    ({ namespace, log }) => {
      const message = `kafka: ${firstLine(log.message)}`;
      const fields: Record<string, string | number | boolean> = { client: namespace };
      for (const name of PLAIN_FIELDS) {
        const value: unknown = log[name];
        if (typeof value === "string" || typeof value === "number") fields[name] = value;
      }
      const quiet = EXPECTED.test(log.message) || isRepeated(`${namespace} ${message}`);
      if (quiet) logger.debug(message, fields);
      else logger.warn(message, fields);
    };
}

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(0, MESSAGE_MAX);
}
