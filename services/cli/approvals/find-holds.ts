/** The journal, read by somebody who is no gate: which calls wait for a person. */
import type { GateEvent } from "../../core/events.ts";
import type { DecodedInput } from "../../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { recordsFrom, type Source, valuesFrom } from "../cluster/open-source.ts";
import type { Hold } from "./hold.ts";
import { isDecided, whyIgnored } from "./waiting-verdicts.ts";

/** Holds that no gate has decided yet, oldest first. */
export async function findHolds(source: Source): Promise<readonly Hold[]> {
  const { log, codec } = source;
  const holds = new Map<string, Hold>();
  for (let partition = 0; partition < log.partitions; partition += 1) {
    let taken = await log.startOffset("verdicts", partition);
    const journal = valuesFrom(source, JOURNAL_TOPIC, partition);
    for await (const value of journal) {
      const record = codec.decodeJournal(value);
      taken = Math.max(taken, record.next.verdicts);
      applyEvents(record.events, partition, holds);
    }
    for await (const record of recordsFrom(source, "verdicts", partition, taken)) {
      const { value, appendTimeMs } = record;
      applyVerdict(codec.decodeInput("verdicts", value), appendTimeMs, holds);
    }
  }
  return [...holds.values()].sort((a, b) => a.held.atMs - b.held.atMs);
}

function applyEvents(
  events: readonly GateEvent[],
  partition: number,
  holds: Map<string, Hold>,
): void {
  for (const event of events) {
    const ended = endedHold(event);
    if (ended !== null) holds.delete(ended);
    if (event.type === "held") {
      holds.set(event.holdId, { held: event, partition, approvedBy: [], waiting: [] });
    }
    if (event.type === "ruled" && event.approvalId !== null)
      approved(event.approvalId, event.by, holds);
  }
}

function approved(approvalId: string, by: string, holds: Map<string, Hold>): void {
  const hold = holds.get(approvalId);
  if (hold === undefined) return;
  holds.set(approvalId, { ...hold, approvedBy: [...hold.approvedBy, by] });
}

function applyVerdict(decoded: DecodedInput, atMs: number, holds: Map<string, Hold>): void {
  if (!decoded.ok || decoded.input.type !== "verdict") return;
  const { kind, by, approvalId } = decoded.input;
  const hold = approvalId === null ? undefined : holds.get(approvalId);
  if (hold === undefined || isDecided(hold)) return;
  if (kind !== "approve" && kind !== "deny" && kind !== "cancel") return;
  const isLate = kind === "approve" && atMs >= hold.held.expiresAtMs;
  if (isLate || whyIgnored(hold, decoded.input) !== null) return;
  holds.set(hold.held.holdId, { ...hold, waiting: [...hold.waiting, { kind, by }] });
}

/** The hold that a decision ends; a call that is held anew has a new one. */
function endedHold(event: GateEvent): string | null {
  switch (event.type) {
    case "allowed":
    case "refused":
    case "held":
      return event.approvalId;
    default:
      return null;
  }
}
