import { describe, expect, test } from "vitest";
import { FatalError } from "../../../services/runtime/errors.ts";
import type { Codec, Log } from "../../../services/runtime/ports.ts";
import { readJournalRecord } from "../../../services/sdk/search-journal.ts";

function journalOf(read: () => Promise<unknown>) {
  const codec = { decodeJournal: () => ({ seq: 9 }) } as unknown as Codec;
  return { log: { read } as unknown as Log, codec };
}

const PLACE = { partition: 0, offset: 8 };
const record = (offset: number) => ({ offset, value: Buffer.from("record") });

describe("the journal record at a place", () => {
  test("is decoded where it is there", async () => {
    const journal = journalOf(async () => ({ records: [record(8)] }));
    expect(await readJournalRecord(journal, PLACE)).toEqual({ seq: 9 });
  });

  test("is none where retention has taken it", async () => {
    const gone = new FatalError("input_out_of_reach", "offset 8 is gone");
    expect(
      await readJournalRecord(
        journalOf(() => Promise.reject(gone)),
        PLACE,
      ),
    ).toBeUndefined();
    const later = journalOf(async () => ({ records: [record(9)] }));
    expect(await readJournalRecord(later, PLACE)).toBeUndefined();
  });

  test("is not known where the log cannot be read", async () => {
    const closed = new FatalError("closed", "the log is closed");
    const journal = journalOf(() => Promise.reject(closed));
    await expect(readJournalRecord(journal, PLACE)).rejects.toBe(closed);
  });
});
