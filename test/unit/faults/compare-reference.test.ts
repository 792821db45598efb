import { beforeAll, describe, expect, it } from "vitest";
import type { GateEvent } from "../../../services/core/events.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import type { RunFacts } from "../../faults/lab/check-run.ts";
import { disagreements } from "../../faults/lab/compare-reference.ts";
import { journalOf, rightRun } from "./right-run.ts";

let run: RunFacts;
let journal: readonly JournalRecord[];

beforeAll(async () => {
  run = await rightRun();
  journal = journalOf(run);
});

/** The first event of the type becomes others. */
function changed(type: GateEvent["type"], change: (event: never) => readonly object[]) {
  const at = journal.findIndex(({ events }) => events.some((event) => event.type === type));
  expect(at).toBeGreaterThanOrEqual(0);
  return journal.map((record, index) => {
    if (index !== at) return record;
    const first = record.events.findIndex((event) => event.type === type);
    const events = record.events.flatMap((event, number) =>
      number === first ? change(event as never) : [event],
    );
    return { ...record, events: events as readonly GateEvent[] };
  });
}

describe("the comparison of a journal with the reference engine", () => {
  it("agrees with a correct journal", () => {
    expect(disagreements(journal, run.policies)).toEqual([]);
  });

  it.each<readonly [string, GateEvent["type"], (event: never) => readonly object[]]>([
    ["that was another call's", "allowed", (event: object) => [{ ...event, decisionId: "other" }]],
    ["with another deadline", "allowed", (event: object) => [{ ...event, notAfterMs: 1 }]],
    [
      "for another reason",
      "refused",
      ({ refusal, ...event }: { readonly refusal: object }) => [
        { ...event, refusal: { ...refusal, reason: "policy_denied" } },
      ],
    ],
    ["that is missing", "held", () => []],
    ["of a tick that is missing", "outcome_unknown", () => []],
    ["that was made twice", "result_recorded", (event: object) => [event, event]],
  ])("reports a decision %s", (_, type, change) => {
    expect(disagreements(changed(type, change), run.policies).length).toBeGreaterThan(0);
  });
});
