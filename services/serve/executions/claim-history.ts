/** What the journal says of a claim that does not hold its call (any more). */

import type { JournaledCall } from "../../client/journal/recent-calls.ts";
import { searchPartition } from "../../client/journal/search-journal.ts";
import type { ResultStatus } from "../../core/inputs.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import type { ServedGate } from "../served-gate.ts";
import { parseClaim } from "./worker-claim.ts";

export type ClaimHistory =
  /** No claim of this call has the id. */
  | { readonly type: "none" }
  /** It was made, and neither given back nor ended by its worker. */
  | { readonly type: "lost"; readonly worker: string }
  | { readonly type: "released" }
  /** Its worker has reported the end already. */
  | { readonly type: "reported"; readonly status: ResultStatus };

/** @throws CallgateError if the journal cannot be read in time */
export async function readClaimHistory(
  { client, link }: ServedGate,
  { decisionId, position }: JournaledCall,
  claimId: string,
): Promise<ClaimHistory> {
  const find = (record: JournalRecord) => historyOf(record, decisionId, claimId);
  const { match } = await client
    .timeFor(decisionId)
    .search((isOver) =>
      searchPartition(link, position, { find, assertWanted: () => assertWanted(isOver) }),
    );
  return match ?? { type: "none" };
}

function historyOf(
  { input, events }: JournalRecord,
  decisionId: string,
  claimId: string,
): ClaimHistory | undefined {
  if (input.type !== "decided" || input.input.type !== "result") return undefined;
  const { decisionId: about, executorId, status } = input.input;
  const claim = about === decisionId ? parseClaim(executorId) : null;
  if (claim?.id !== claimId) return undefined;
  if (status === "started") {
    const { worker, leaseSeconds } = claim;
    return leaseSeconds === 0 ? { type: "released" } : { type: "lost", worker };
  }
  const [event] = events;
  const isReported = event?.type === "result_recorded" || event?.type === "reconciled";
  // `unknown` is what the server reports when the lease is over.
  if (!isReported || status === "unknown") return undefined;
  return { type: "reported", status: event.type === "reconciled" ? event.outcome : event.status };
}

/** The deadline throws by itself; this ends its search. */
function assertWanted(isOver: () => boolean): void {
  if (isOver()) throw new Error("nobody waits for the search any more");
}
