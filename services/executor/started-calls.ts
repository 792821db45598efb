/** What the results of a partition say of calls that were begun: read by who takes over from who ran them. */
import type { ResultInput } from "../core/inputs.ts";
import type { Codec, Log } from "../runtime/ports.ts";
import { offsetAt } from "./offset-at.ts";

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };

export type StartedCalls = {
  /** Begun and not ended. By decision. */
  readonly open: ReadonlyMap<string, ResultInput>;
  /** Begun or ended: not to be run again. */
  readonly known: ReadonlySet<string>;
};

/** @param sinceMs nothing before this time is looked at. */
export async function readStartedCalls(
  log: Log,
  codec: Pick<Codec, "decodeInput" | "pending">,
  partition: number,
  sinceMs: number,
): Promise<StartedCalls> {
  const open = new Map<string, ResultInput>();
  const known = new Set<string>();
  const end = await log.endOffset("results", partition);
  let offset = await offsetAt(log, "results", partition, sinceMs);
  while (offset < end) {
    const { records, nextOffset } = await log.read("results", partition, offset, READ_LIMITS);
    if (nextOffset <= offset) break;
    offset = nextOffset;
    for (const { value } of records) {
      await codec.pending?.(value);
      const decoded = codec.decodeInput("results", value);
      if (!decoded.ok || decoded.input.type !== "result") continue;
      const { decisionId, status } = decoded.input;
      known.add(decisionId);
      if (status === "started") open.set(decisionId, decoded.input);
      else open.delete(decisionId);
    }
  }
  return { open, known };
}
