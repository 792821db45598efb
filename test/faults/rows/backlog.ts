// A person answers while no gate runs: the verdict waits between proposals, and is decided in its
// order.
import { setTimeout as sleep } from "node:timers/promises";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import type { InputTopic } from "../../../services/runtime/topics.ts";
import type { HeldCall } from "../../../services/wire/output-records.ts";
import { readAll } from "../../support/kafka/test-cluster.ts";
import type { Lab } from "../lab/lab.ts";
import type { Row } from "../lab/row.ts";

const KINDS = ["approve", "deny"] as const;
/** Below the time of the policy's holds. */
const HELD_WITHIN_MS = 2_000;
/** A pause, so that no two records have one append time. */
const APART_MS = 20;

type RecordPosition = { readonly topic: InputTopic; readonly offset: number };

/** In the order they were appended. */
type Waiting = {
  readonly partition: number;
  readonly before: RecordPosition;
  readonly verdict: RecordPosition;
  readonly after: RecordPosition;
};

export const backlog: Row = {
  name: "verdict before the backlog",
  about: "a hold is answered while no gate runs, behind and before proposals that wait",
  inShort: false,
  faultsMin: () => KINDS.length,
  run: async ({ open, fail }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    const waited: Waiting[] = [];
    for (const kind of KINDS) {
      const held = await ownHold(lab, `waits-${kind}`);
      await lab.gates.at(-1)?.kill();
      const struckAtMs = Date.now();
      waited.push(await answerAmong(lab, held, kind));
      // The load goes on: proposals, results and verdicts pile up.
      await sleep(3_000);
      await lab.startGate();
      await lab.recover(struckAtMs);
    }
    await lab.rest();
    for (const problem of problemsOf(waited, await lab.journals())) fail(problem);
    return lab;
  },
};

/** Makes a hold that only the row answers. */
async function ownHold(lab: Lab, conversationId: string): Promise<HeldCall> {
  const { partition } = await lab.load.propose(conversationId, "held", "remove_item");
  for (const untilMs = Date.now() + HELD_WITHIN_MS; Date.now() < untilMs; await sleep(APART_MS)) {
    const heldCall = (await readAll(lab.log, "held", partition))
      .map(({ value }) => lab.codec.decodeHeld(value ?? new Uint8Array()))
      .find((held) => held.conversationId === conversationId);
    if (heldCall !== undefined) return heldCall;
  }
  throw new Error(`the call of ${conversationId} was not held in time`);
}

async function answerAmong(lab: Lab, held: HeldCall, kind: "approve" | "deny"): Promise<Waiting> {
  const { load } = lab;
  const { conversationId } = held;
  const before = await load.propose(conversationId, "before", "get_item");
  await sleep(APART_MS);
  const offset = await load.answer(held, kind);
  await sleep(APART_MS);
  const after = await load.propose(conversationId, "after", "get_item");
  return {
    partition: before.partition,
    before: { topic: "proposals", offset: before.offset },
    verdict: { topic: "verdicts", offset },
    after: { topic: "proposals", offset: after.offset },
  };
}

/** Checks that each verdict was decided after the proposals before it and before those after it. */
function problemsOf(
  waited: readonly Waiting[],
  journals: readonly (readonly JournalRecord[])[],
): readonly string[] {
  const problems: string[] = [];
  let answered = 0;
  for (const { partition, before, verdict, after } of waited) {
    const journal = journals[partition] ?? [];
    const [first, word, last] = [before, verdict, after].map((position) =>
      recordOf(journal, position),
    );
    if (first === undefined || word === undefined || last === undefined) {
      problems.push(`partition ${partition}: a record of the backlog was not decided`);
      continue;
    }
    if (word.events.some(({ type }) => type === "allowed" || type === "refused")) answered += 1;
    if (first.seq < word.seq && word.seq < last.seq) continue;
    problems.push(
      `partition ${partition}: proposal, verdict, proposal were decided as ${first.seq}, ${word.seq}, ${last.seq}`,
    );
  }
  if (answered === 0) problems.push("void: no verdict of the backlog answered its hold");
  return problems;
}

function recordOf(
  journal: readonly JournalRecord[],
  position: RecordPosition,
): JournalRecord | undefined {
  return journal.find(
    ({ input }) =>
      input.type === "decided" &&
      input.at.topic === position.topic &&
      input.at.offset === position.offset,
  );
}
