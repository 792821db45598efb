import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  endOfDecided,
  isDecided,
  NOTHING_AHEAD,
  noteDecided,
} from "../../../services/runtime/decided-ahead.ts";
import { NO_POSITION } from "../../../services/runtime/topics.ts";

const MOST = 40;
/** The offsets of a topic, some of which hold no record, in the order of their decisions. */
const orders = fc
  .uniqueArray(fc.integer({ min: 0, max: MOST }), { minLength: 1 })
  .chain((offsets) => fc.shuffledSubarray(offsets, { minLength: offsets.length }));

describe("what is decided ahead", () => {
  it("is nothing while inputs are decided in order", () => {
    expect(noteDecided(NOTHING_AHEAD, "results", 7, 8)).toBe(NOTHING_AHEAD);
  });

  it("are the decided offsets after the first that is not, in joined ranges", () => {
    let ahead = noteDecided(NOTHING_AHEAD, "proposals", 5, 0);
    ahead = noteDecided(ahead, "proposals", 7, 0);
    expect(ahead.proposals).toEqual([
      [5, 6],
      [7, 8],
    ]);
    ahead = noteDecided(ahead, "proposals", 6, 0);
    expect(ahead.proposals).toEqual([[5, 8]]);
    expect(noteDecided(ahead, "proposals", 0, 5).proposals).toEqual([[5, 8]]);
    expect(noteDecided(ahead, "proposals", 0, 8)).toEqual(NOTHING_AHEAD);
  });

  it("tells of each offset whether it is decided, in any order", () => {
    fc.assert(
      fc.property(orders, (order) => {
        const decided = new Set<number>();
        let progress = { next: NO_POSITION, ahead: NOTHING_AHEAD };
        for (const offset of order) {
          decided.add(offset);
          const open = order.filter((each) => !decided.has(each));
          const proposals = Math.min(...open, Math.max(...decided) + 1);
          const ahead = noteDecided(progress.ahead, "proposals", offset, proposals);
          progress = { next: { ...NO_POSITION, proposals }, ahead };
          const seen = order.filter((each) => isDecided(progress, "proposals", each));
          expect(seen.sort()).toEqual([...decided].sort());
          expect(endOfDecided(progress, "proposals")).toBe(Math.max(...decided) + 1);
        }
        expect(progress.ahead).toEqual(NOTHING_AHEAD);
      }),
    );
  });
});
