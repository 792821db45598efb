/** What the results of a partition say of calls that were begun: read by who takes over from who ran them. */
import type { ResultInput } from "../core/inputs.ts";
import type { Codec, Log } from "../runtime/ports.ts";
import { offsetAt } from "./offset-at.ts";
import type { Told } from "./standing.ts";

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };

export type StartedCalls = {
  /** Begun and not ended. By decision. */
  readonly open: ReadonlyMap<string, ResultInput>;
  /** Begun or ended: not to be run again. */
  readonly known: ReadonlySet<string>;
  /** When the last of them was told; 0: there is none. */
  readonly lastMs: number;
  /** All that was told of calls in hand, in order. */
  readonly told: ToldCalls;
};

export type ToldCalls = ReadonlyMap<string, readonly Told[]>;

export type ResultsRead = {
  readonly log: Log;
  readonly codec: Pick<Codec, "decodeInput" | "pending">;
  readonly partition: number;
  /** Nothing before this time is looked at. */
  readonly sinceMs: number;
};

export async function readStartedCalls(
  read: ResultsRead,
  isInHand: (decisionId: string) => boolean,
): Promise<StartedCalls> {
  const open = new Map<string, ResultInput>();
  const known = new Set<string>();
  const told = new Map<string, Told[]>();
  let lastMs = 0;
  for await (const { result, appendTimeMs } of resultsOf(read)) {
    const { decisionId, status } = result;
    lastMs = appendTimeMs;
    known.add(decisionId);
    if (status === "started") open.set(decisionId, result);
    else open.delete(decisionId);
    if (isInHand(decisionId)) addTo(told, result);
  }
  return { open, known, lastMs, told };
}

/** All that was told of calls in hand, in order. */
export async function readTold(
  read: ResultsRead,
  isInHand: (decisionId: string) => boolean,
): Promise<ToldCalls> {
  const told = new Map<string, Told[]>();
  for await (const { result } of resultsOf(read)) {
    if (isInHand(result.decisionId)) addTo(told, result);
  }
  return told;
}

/** Without what the tool gave: of many calls that is much. */
function addTo(told: Map<string, Told[]>, { decisionId, status, executorId }: ResultInput): void {
  const one = executorId === undefined ? { status } : { status, executorId };
  const before = told.get(decisionId);
  if (before === undefined) told.set(decisionId, [one]);
  else before.push(one);
}

type ReadResult = { readonly result: ResultInput; readonly appendTimeMs: number };

/** To the end that the results have now. */
async function* resultsOf({
  log,
  codec,
  partition,
  sinceMs,
}: ResultsRead): AsyncGenerator<ReadResult> {
  const end = await log.endOffset("results", partition);
  let offset = await offsetAt(log, "results", partition, sinceMs);
  while (offset < end) {
    const { records, nextOffset } = await log.read("results", partition, offset, READ_LIMITS);
    if (nextOffset <= offset) break;
    offset = nextOffset;
    for (const { value, appendTimeMs } of records) {
      await codec.pending?.(value);
      const decoded = codec.decodeInput("results", value);
      if (!decoded.ok || decoded.input.type !== "result") continue;
      yield { result: decoded.input, appendTimeMs };
    }
  }
}
