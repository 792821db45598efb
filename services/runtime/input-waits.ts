/**
 * What an input must wait for before it can be judged: its schema, and the keys that verify its
 * proposal.
 */
import type { InputQueue } from "./input-queue.ts";
import type { Codec, ProposalAuthority } from "./ports.ts";
import type { FetchedInput } from "./process-batch.ts";

type Waits = {
  readonly codec: Pick<Codec, "pending">;
  readonly authority?: ProposalAuthority | undefined;
};

/** Null: the input can be judged now. Asking again is cheap. */
export function pendingOf(
  { codec, authority }: Waits,
  input: FetchedInput | undefined,
): Promise<void> | null {
  if (input === undefined) return null;
  const decodable = codec.pending?.(input.record.value) ?? null;
  if (decodable !== null || authority === undefined || input.topic !== "proposals") {
    return decodable;
  }
  return authority.pending(input.record);
}

/**
 * Verifies all proposals that were read at once: waiting for each separately would make batches of
 * one.
 */
export async function verifyAhead(
  authority: ProposalAuthority | undefined,
  queue: InputQueue,
): Promise<void> {
  if (authority === undefined) return;
  const waits: Promise<void>[] = [];
  for (const record of queue.readAhead("proposals")) {
    const pending = authority.pending(record);
    if (pending !== null) waits.push(pending);
  }
  if (waits.length > 0) await Promise.all(waits);
}
