import { describe, expect, it } from "vitest";
import type { Judgement, Row, Run } from "../../faults/lab/row.ts";
import { runRow } from "../../faults/lab/run-row.ts";

const ENOUGH: Judgement = {
  ...{ calls: 50, allowed: 10, refused: 5, held: 0, lost: 0, doubled: 0, problems: [] },
  between: { calls: 20, problems: [] },
};

type Fake = { readonly run?: Partial<Run>; readonly judged?: Partial<Judgement> };

/** It has just enough of everything, but for what is given. */
function fakeRun({ run, judged }: Fake): Run {
  return {
    ...{ faults: 3, inTransaction: 2, worstGapMs: 1_000, logs: () => "the logs", ...run },
    finish: async () => ({ ...ENOUGH, ...judged }),
  };
}

async function problemsOf(run: Row["run"], withinSeconds = 60): Promise<readonly string[]> {
  const row: Row = {
    ...{ name: "fake", about: "", inShort: true, faultsMin: () => 3, inTransactionMin: () => 2 },
    ...{ gapMaxMs: 1_000, withinSeconds, run },
  };
  const cluster = { libs: "", classes: "", bootstrap: [], brokers: [] };
  const untilMs = Date.now() + 600_000;
  return (await runRow(row, { cluster, untilMs, short: true, version: {} })).problems;
}

const problemsOfFake = (fake: Fake) => problemsOf(async () => fakeRun(fake));

describe("a row", () => {
  it("passes when it reaches every minimum exactly", async () => {
    expect(await problemsOfFake({})).toEqual([]);
  });

  it.each<readonly [Fake, string]>([
    [{ judged: { calls: 49 } }, "void: 49 calls decided, 50 are needed"],
    [{ judged: { allowed: 9 } }, "void: 9 calls allowed, 10 are needed"],
    [{ judged: { refused: 4 } }, "void: 4 calls refused, 5 are needed"],
    [
      { judged: { between: { calls: 19, problems: [] } } },
      "void: 19 calls seen while the load ran, 20 are needed",
    ],
    [{ run: { faults: 2 } }, "void: 2 faults, 3 are needed"],
    [{ run: { inTransaction: 1 } }, "void: 1 faults inside a transaction, 2 are needed"],
    [{ judged: { doubled: 1 } }, "1 proposals were decided twice"],
    [{ judged: { problems: ["wrong"] } }, "wrong"],
    [{ judged: { between: { calls: 20, problems: ["wrong"] } } }, "while the load ran: wrong"],
    [{ run: { worstGapMs: 1_001 } }, "1001 ms without a decision, at most 1000 are allowed"],
  ])("fails with only %j below its minimum", async (fake, problem) => {
    expect(await problemsOfFake(fake)).toEqual([problem]);
  });

  it("fails when its time to the next decision has a limit and was not measured", async () => {
    expect(await problemsOfFake({ run: { worstGapMs: null } })).toHaveLength(1);
  });

  it("shows the gates' logs when it lost a proposal", async () => {
    const problems = await problemsOfFake({ judged: { lost: 1 } });
    expect(problems).toEqual(["1 proposals were never decided", "the logs"]);
  });

  it("fails with the problems that it reports itself", async () => {
    const fails: Row["run"] = async ({ fail }) => {
      fail("said");
      return fakeRun({});
    };
    expect(await problemsOf(fails)).toEqual(["said"]);
  });

  it("fails with the error that it throws", async () => {
    const problems = await problemsOf(() => Promise.reject(new Error("thrown")));
    expect(problems.join()).toContain("thrown");
  });

  it("fails when it does not end in time", async () => {
    const problems = await problemsOf(() => new Promise(() => undefined), 0.1);
    expect(problems).toEqual(["it did not end within 0 s"]);
  });
});
