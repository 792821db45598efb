/** The journal, read by somebody who is no gate: which calls wait for a person. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CallHeld, GateEvent } from "../../core/events.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { type EmbeddedClient, openEmbeddedClient } from "../../sdk/open-embedded.ts";
import { environmentError } from "../output/cli-error.ts";

/** A held call, and where its answer has to go. */
export interface Hold {
  readonly held: CallHeld;
  readonly partition: number;
}

/** What the embedded log is kept in. */
const LOG_FILE = "log.mdb";
const READ_RECORDS = 1_000;
const READ_BYTES = 64 * 1024 * 1024;

/** @throws CliError where no gate has kept a log there; CallgateError where it cannot be read. */
export function openLog(dataDir: string): EmbeddedClient {
  // Opening would make a log: a mistyped path must not look like a gate without holds.
  if (!existsSync(join(dataDir, LOG_FILE))) {
    throw environmentError(`${dataDir}: holds no log of a gate; name its directory (--data-dir)`);
  }
  return openEmbeddedClient(dataDir);
}

/** Unanswered holds, oldest first. */
export async function findHolds({ log, codec }: EmbeddedClient): Promise<readonly Hold[]> {
  const holds = new Map<string, Hold>();
  for (let partition = 0; partition < log.partitions; partition += 1) {
    let offset = await log.startOffset(JOURNAL_TOPIC, partition);
    const limits = { recordsMax: READ_RECORDS, bytesMax: READ_BYTES };
    for (;;) {
      const read = await log.read(JOURNAL_TOPIC, partition, offset, limits);
      for (const { value } of read.records) {
        if (value !== null) apply(codec.decodeJournal(value), partition, holds);
      }
      if (read.nextOffset <= offset || read.nextOffset >= read.endOffset) break;
      offset = read.nextOffset;
    }
  }
  return [...holds.values()].sort((a, b) => a.held.atMs - b.held.atMs);
}

function apply({ events }: JournalRecord, partition: number, holds: Map<string, Hold>): void {
  for (const event of events) {
    const ended = endedHold(event);
    if (ended !== null) holds.delete(ended);
    if (event.type === "held") holds.set(event.holdId, { held: event, partition });
  }
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
