import { describe, expect, test } from "vitest";
import type { GateEvent } from "../../../services/core/events.ts";
import type { ResultInput } from "../../../services/core/inputs.ts";
import type { CommittedRecord } from "../../../services/runtime/journal.ts";
import { isHeld, OpenExecutions } from "../../../services/serve/executions/open-executions.ts";
import { WaitingWorkers } from "../../../services/serve/executions/waiting-workers.ts";
import {
  claimText,
  executionIdOf,
  newClaimId,
  parseClaim,
  parseExecutionId,
} from "../../../services/serve/executions/worker-claim.ts";

const [FIRST, SECOND, THIRD] = ["1", "2", "3"].map((digit) => digit.repeat(24)) as [
  string,
  string,
  string,
];
const TIMES = { notAfterMs: 50_000, timeLimitMs: 30_000 };

class Journal {
  readonly open: OpenExecutions;
  #offset = 0;

  constructor(max = 100) {
    this.open = new OpenExecutions(max);
  }

  allow(decisionId: string, { tool = "t", step = null as string | null, isRead = false } = {}) {
    const names = { tenantId: "default", conversationId: "c", decisionId };
    const call = { tool, step, turn: null };
    const event = {
      type: "allowed",
      ...names,
      call,
      times: { atMs: 0 },
      policy: { isRead },
      ...TIMES,
    };
    this.#learn([event as GateEvent], undefined, 0);
  }

  /** @param isFirst whether the gate records it */
  start(decisionId: string, executorId: string, { isFirst = false, atMs = 0 } = {}) {
    const names = { tenantId: "default", conversationId: "c", decisionId };
    const event = isFirst
      ? { type: "result_recorded", status: "started", ...names }
      : { type: "ignored", why: "already_reported" };
    const input = { type: "result", status: "started", ...names, executorId };
    this.#learn([event as GateEvent], input as ResultInput, atMs);
  }

  end(decisionId: string) {
    this.#learn([{ type: "outcome_unknown", decisionId } as GateEvent], undefined, 0);
  }

  #learn(events: readonly GateEvent[], input: ResultInput | undefined, appendTimeMs: number) {
    this.#offset += 1;
    const consumed = input === undefined ? { type: "idle" } : { type: "decided", input };
    const record = { events, input: consumed };
    this.open.learn({ offset: this.#offset, appendTimeMs, record } as CommittedRecord, 0);
  }
}

function claimOf(id: string, { after = null as string | null, leaseSeconds = 10 } = {}): string {
  return claimText({ id, after, leaseSeconds, worker: "w" });
}

function freeIn({ open }: Journal, tool = "t"): readonly string[] {
  return [...open.free(tool)].map(({ decisionId }) => decisionId);
}

describe("open executions", () => {
  test("the first start holds a call, and a second one does not", () => {
    const journal = new Journal();
    journal.allow("d");
    expect(freeIn(journal)).toEqual(["d"]);
    journal.start("d", claimOf(FIRST), { isFirst: true, atMs: 1_000 });
    journal.start("d", claimOf(SECOND), { atMs: 2_000 });
    expect(freeIn(journal)).toEqual([]);
    expect(journal.open.get("d")?.claim).toMatchObject({ id: FIRST, leaseEndMs: 11_000 });
  });

  test("the same claim again renews the lease, up to the time limit", () => {
    const journal = new Journal();
    journal.allow("d");
    journal.start("d", claimOf(FIRST), { isFirst: true, atMs: 1_000 });
    journal.start("d", claimOf(FIRST, { leaseSeconds: 20 }), { atMs: 5_000 });
    expect(journal.open.get("d")?.claim?.leaseEndMs).toBe(25_000);
    journal.start("d", claimOf(FIRST, { leaseSeconds: 3_600 }), { atMs: 6_000 });
    expect(journal.open.get("d")?.claim?.leaseEndMs).toBe(36_000);
  });

  test("a released call is taken over once, by a claim that names the one before", () => {
    const journal = new Journal();
    journal.allow("d");
    journal.start("d", claimOf(FIRST), { isFirst: true });
    journal.start("d", claimOf(SECOND, { after: FIRST }));
    expect(journal.open.get("d")?.claim?.id).toBe(FIRST);
    journal.start("d", claimOf(FIRST, { leaseSeconds: 0 }));
    expect(freeIn(journal)).toEqual(["d"]);
    // The worker that released it cannot renew it.
    journal.start("d", claimOf(FIRST));
    expect(freeIn(journal)).toEqual(["d"]);
    journal.start("d", claimOf(SECOND, { after: FIRST }), { atMs: 7_000 });
    journal.start("d", claimOf(THIRD, { after: FIRST }));
    const call = journal.open.get("d");
    expect(call?.claim).toMatchObject({ id: SECOND, claimedMs: 7_000 });
    expect(call !== undefined && isHeld(call)).toBe(true);
  });

  test("a call that ended, or that an executor began, is left alone", () => {
    const journal = new Journal();
    journal.allow("ended");
    journal.allow("begun");
    journal.end("ended");
    journal.start("begun", "an executor", { isFirst: true });
    expect(journal.open.size).toBe(0);
    journal.start("ended", claimOf(FIRST));
    expect(journal.open.size).toBe(0);
  });

  test("an earlier write of the tools of workers holds up later ones", () => {
    const journal = new Journal();
    journal.allow("a", { step: "1" });
    journal.allow("b", { step: "1" });
    journal.allow("read", { isRead: true });
    journal.allow("c");
    const isBlocked = (id: string, isOurs = true, nowMs = 0) => {
      const call = journal.open.get(id);
      return call !== undefined && journal.open.isBlocked(call, () => isOurs, nowMs);
    };
    expect(["a", "b", "read", "c"].filter((id) => isBlocked(id))).toEqual(["c"]);
    expect(isBlocked("c", false)).toBe(false);
    expect(isBlocked("c", true, TIMES.notAfterMs + 1)).toBe(false);
    journal.start("a", claimOf(FIRST), { isFirst: true });
    expect(isBlocked("c", false, TIMES.notAfterMs + 1)).toBe(true);
  });

  test("calls beyond the bound are left out, and adopted from where they were", () => {
    const journal = new Journal(2);
    for (const id of ["a", "b"]) journal.allow(id);
    expect(journal.open.leftOut.size).toBe(0);
    for (const id of ["c", "d", "e"]) journal.allow(id);
    expect(freeIn(journal)).toEqual(["a", "b"]);
    expect([...journal.open.leftOut]).toEqual([[0, 3]]);
    const later = new Journal(2);
    for (const id of ["c", "d", "e"]) later.allow(id);
    journal.end("a");
    journal.open.adopt(later.open);
    expect(freeIn(journal)).toEqual(["b", "c"]);
    expect(journal.open.leftOut.size).toBe(1);
  });
});

describe("claims of workers", () => {
  test("survive as text, with any name of the worker", () => {
    for (const worker of ["w", "a:b: c", "ö\u2028"]) {
      const claim = { id: newClaimId(), after: newClaimId(), leaseSeconds: 60, worker };
      expect(parseClaim(claimText(claim))).toEqual(claim);
    }
    for (const text of [undefined, "", "guard:1", "worker:x::60:w", `worker:${FIRST}::60:`]) {
      expect(parseClaim(text)).toBeNull();
    }
  });

  test("name their execution", () => {
    const name = { decisionId: "a".repeat(32), claimId: FIRST };
    expect(parseExecutionId(executionIdOf(name))).toEqual(name);
    for (const text of ["", "a.b", `${"a".repeat(32)}.`, FIRST]) {
      expect(parseExecutionId(text)).toBeNull();
    }
  });
});

describe("waiting workers", () => {
  test("are woken for their tools alone, also just before they wait", async () => {
    const journal = new Journal();
    const workers = new WaitingWorkers();
    const [mine, other] = ["t", "u"].map((tool) => workers.begin([tool], 60_000, []));
    journal.allow("a");
    workers.wake(journal.open);
    expect(await mine?.change()).toBe(true);
    const later = mine?.change();
    workers.wake(journal.open);
    expect(await later).toBe(true);
    const waits = other?.change();
    workers.wake(journal.open);
    expect(await Promise.race([waits, Promise.resolve("waits")])).toBe("waits");
    mine?.end();
    other?.end();
  });

  test("stop waiting when their time is over or a signal aborts", async () => {
    const workers = new WaitingWorkers();
    expect(await workers.begin(["t"], 1, []).change()).toBe(false);
    const gone = new AbortController();
    const wait = workers.begin(["t"], 60_000, [gone.signal]);
    const change = wait.change();
    gone.abort();
    expect(await change).toBe(false);
    wait.end();
  });
});
