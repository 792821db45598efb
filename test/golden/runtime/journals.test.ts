// Journals that earlier versions of the gate wrote: this version reads, replays and continues them.
import { afterEach, describe, expect, test } from "vitest";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import type { DecisionEvent, GateEvent } from "../../../services/core/events.ts";
import type { GateInput } from "../../../services/core/inputs.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import type { Engine } from "../../../services/runtime/engine.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { verifyJournal } from "../../../services/runtime/verify.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { EVERY_STORY } from "../../support/journals/every-story.ts";
import {
  appendRecorded,
  type RecordedJournal,
  readRecordedJournals,
  valuesOf,
} from "../../support/journals/recorded-journal.ts";
import { type Story, StoryRun } from "../../support/journals/story-run.ts";
import { DAY_MS } from "../../support/runtime-kit.ts";
import { createEngine } from "../../support/simulation/engines.ts";
import { SAMPLE_SECRETS } from "../../support/wire/samples.ts";

const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
const journals = readRecordedJournals();

const runs: StoryRun[] = [];

afterEach(async () => {
  for (const run of runs.splice(0)) await run.kit.close();
});

function goOn(journal: RecordedJournal): StoryRun {
  const { document } = storyOf(journal);
  const run = new StoryRun(document, "sha256:later", journal);
  runs.push(run);
  return run;
}

function storyOf({ story }: RecordedJournal): Story {
  const found = EVERY_STORY[story];
  if (found === undefined) throw new Error(`there is no story ${story}`);
  return found;
}

function verify(log: MemoryLog) {
  return verifyJournal({ log, codec, fold: coreFold, journalSpanMs: DAY_MS }, 0);
}

function recordsOf(journal: RecordedJournal): readonly JournalRecord[] {
  return valuesOf(journal, "decisions").map((value) => codec.decodeJournal(value));
}

function isDecision(event: GateEvent): event is DecisionEvent {
  return event.type === "allowed" || event.type === "held" || event.type === "refused";
}

/** The first decision on the call with that id. */
function decisionOf(journal: RecordedJournal, callId: string): DecisionEvent {
  const events = recordsOf(journal).flatMap((record) => record.events);
  const found = events.filter(isDecision).find((event) => event.call.callId === callId);
  if (found === undefined) throw new Error(`${journal.name} has no call ${callId}`);
  return found;
}

function outcomesOf(events: readonly GateEvent[]): readonly string[] {
  return events.map((event) => {
    if (event.type === "refused") return `refused ${event.refusal.reason}`;
    if (event.type === "ignored") return `ignored ${event.why}`;
    return event.type === "result_recorded" ? `${event.type} ${event.status}` : event.type;
  });
}

/** Decides each input except ticks again, on the state that the journal gives. */
function decidedOtherwise(journal: RecordedJournal, engine: Engine): readonly string[] {
  const states = new Map<string, ConversationState>();
  const differences: string[] = [];
  for (const record of recordsOf(journal)) {
    const difference = differenceOf(record, engine, states);
    if (difference !== null) differences.push(difference);
    for (const event of record.events) {
      const state = engine.evolve(states.get(conversationOf(event)), event);
      if (state !== undefined) states.set(conversationOf(event), state);
    }
  }
  return differences;
}

function differenceOf(
  { input, clocks, events }: JournalRecord,
  engine: Engine,
  states: ReadonlyMap<string, ConversationState>,
): string | null {
  if (input.type !== "decided" || input.input.type === "tick") return null;
  const state = states.get(conversationOf(input.input));
  const again = outcomesOf(engine.decide(state, input.input, clocks[input.at.topic])).join();
  const before = outcomesOf(events).join();
  if (again === before) return null;
  const name = "callId" in input.input ? input.input.callId : input.input.kind;
  return `${name}: ${before} -> ${again}`;
}

function conversationOf(of: Exclude<GateInput, { type: "tick" }> | GateEvent): string {
  return `${of.tenantId}/${of.conversationId}`;
}

test("each release of the schemas has its journal", () => {
  const releases = readSchemaFiles().released.map(({ version }) => version);
  const recorded = journals.map(({ name }) => name.split("-")[0]);
  expect(new Set(recorded)).toEqual(new Set(releases));
});

describe.each(journals)("the journal $name", (journal) => {
  test("is read and replayed: chain, positions and every state hash agree", async () => {
    const log = new MemoryLog({ partitions: 1, clusterId: "c", nowMs: () => 0 });
    appendRecorded(log, journal);
    const report = await verify(log);
    const records = recordsOf(journal);
    expect(report.problems).toEqual([]);
    expect(report.records).toBe(valuesOf(journal, "decisions").length);
    expect(report.stateHashesCompared).toBeGreaterThan(20);
    expect(report.stateHashesCompared).toBe(records.filter((one) => one.stateHash !== null).length);
    expect(records.at(-1)?.stateHash).not.toBeNull();
  });

  test("has every kind of record that a journal can have", () => {
    const events = recordsOf(journal).flatMap((record) => record.events);
    const types = new Set<string>(events.map((event) => event.type));
    for (const type of ["allowed", "held", "refused", "repeated", "ignored", "reconciled"]) {
      expect(types).toContain(type);
    }
    expect(types).toContain("outcome_unknown");
    expect(new Set(events.map((event) => event.tenantId)).size).toBe(2);
  });

  test("contains the allowed calls as they were written, idempotency keys included", () => {
    const made = recordsOf(journal).flatMap(({ input, events }) => {
      if (input.type !== "decided") return [];
      const allowed = events.filter((event) => event.type === "allowed");
      return allowed.map((event) =>
        codec.decodeAllowed(codec.encodeDecision(event, input.at).value),
      );
    });
    const written = valuesOf(journal, "allowed").map((value) => codec.decodeAllowed(value));
    expect(written.length).toBeGreaterThan(20);
    expect(made).toEqual(written);
  });

  test("was decided as this version decides", () => {
    const engine = createEngine(storyOf(journal).document, "sha256:later");
    expect(decidedOtherwise(journal, engine)).toEqual([]);
  });

  test("can be taken over: its calls and proposals have their decisions", async () => {
    const later = goOn(journal);
    const mail = { to: "bob", text: "bye" };
    const repeat = await later.call("repeat", "north/mail", "send_mail", mail);
    expect(repeat).toMatchObject([
      {
        type: "refused",
        refusal: { reason: "duplicate_call", previousCall: { callId: "last-write" } },
      },
    ]);
    for (const callId of ["fresh-after-idle", "last-write", "refused", "under-way", "waiting"]) {
      const decision = decisionOf(journal, callId);
      expect(await later.again(callId)).toMatchObject([
        { type: "repeated", decisionId: decision.decisionId, decision },
      ]);
    }
    const twin = await later.call("twin", "north/last", "slow_write", { part: 2 });
    expect(outcomesOf(twin)).toEqual(["refused duplicate_in_flight"]);
  });

  test("can be taken over: open calls continue, and the whole journal replays", async () => {
    const later = goOn(journal);
    expect(await later.verdict("approve", { callId: "waiting" })).toMatchObject([
      {
        type: "allowed",
        decisionId: decisionOf(journal, "waiting").decisionId,
        approval: { approvedBy: ["ann"] },
      },
    ]);
    expect(outcomesOf(await later.result("waiting", "succeeded"))).toEqual([
      "result_recorded succeeded",
    ]);
    expect(outcomesOf(await later.result("under-way", "failed"))).toEqual([
      "result_recorded failed",
    ]);
    await later.toHashRecord("south/later");
    const report = await verify(later.kit.log);
    expect(report.problems).toEqual([]);
    expect(report.lastSeq).toBeGreaterThan(recordsOf(journal).length);
    const told = later.kit.lines.filter(({ level }) => level === "warn" || level === "error");
    // The clock of this test stands still.
    const others = told.filter(({ message }) => !message.startsWith("this host's clock is behind"));
    expect(others).toEqual([]);
  });
});
