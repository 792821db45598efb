import { beforeAll, describe, expect, it } from "vitest";
import { checkRun, type RunFacts } from "../../faults/lab/check-run.ts";
import type { ReadRecord } from "../../faults/lab/read-topics.ts";
import { journalOf, rightRun, withJournal } from "./right-run.ts";

let run: RunFacts;
let lastProposal: number;

beforeAll(async () => {
  run = await rightRun();
  lastProposal = journalOf(run).findLastIndex(
    ({ input }) => input.type !== "idle" && input.at.topic === "proposals",
  );
});

const withoutLastProposal = (records: readonly ReadRecord[]) => records.slice(0, lastProposal);

describe("the checker of the fault suite", () => {
  it("finds no fault in a correct run, and counts its calls", () => {
    expect(checkRun(run)).toEqual({
      ...{ calls: 6, lost: 0, doubled: 0, problems: [] },
      ...{ allowed: 3, refused: 3, held: 2 },
    });
  });

  it("counts a proposal without a journal record as lost", () => {
    const verdict = checkRun(withJournal(run, withoutLastProposal));
    expect(verdict).toMatchObject({ calls: 5, lost: 1, doubled: 0 });
    expect(verdict.problems).toContain("the proposal at 0/5 has no journal record");
  });

  it("counts a proposal as lost that the broker acknowledged and no longer has", () => {
    const [first] = run.sent;
    const sent = [...run.sent, { ...first, partition: 0, offset: 99 }] as RunFacts["sent"];
    expect(checkRun({ ...run, sent })).toMatchObject({ calls: 6, lost: 1, doubled: 0 });
  });

  it("counts no proposal as lost that may still be decided", () => {
    const going = { ...withJournal(run, withoutLastProposal), stage: "going-on" } as const;
    expect(checkRun(going).lost).toBe(0);
  });

  it("counts a proposal with two journal records as doubled", () => {
    const twice = withJournal(run, (records) =>
      records.flatMap((record, at) => (at === lastProposal ? [record, record] : [record])),
    );
    const verdict = checkRun(twice);
    expect(verdict).toMatchObject({ calls: 6, lost: 0, doubled: 1 });
    expect(verdict.problems).toContain("the proposal at 0/5 has 2 journal records");
  });

  it("finds a decision without a proposal", () => {
    const { proposals } = run.names;
    const partitions = [(run.read.get(proposals)?.partitions[0] ?? []).slice(0, -1)];
    const { problems } = checkRun({
      ...run,
      read: new Map(run.read).set(proposals, { partitions }),
    });
    expect(problems).toContain("the journal decides 0/5, which is not there");
  });

  it("finds append times that the broker did not set", () => {
    const { problems } = checkRun(
      withJournal(run, (records) =>
        records.map((one) => ({ ...one, timestampType: "CreateTime" })),
      ),
    );
    expect(problems).toEqual(["decisions has records that are not of LogAppendTime"]);
  });
});
