// Judges a run by the records that the Java client read, the load that was sent, and both engines.

import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { createCoreEngine } from "../../../services/runtime/core-engine.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { TOPICS, type Topic } from "../../../services/runtime/topics.ts";
import type { AvroCodec } from "../../../services/wire/codec.ts";
import { checkTopics, type Stage } from "../../support/simulation/check-topics.ts";
import { disagreements } from "./compare-reference.ts";
import type { SentProposal } from "./load.ts";
import type { ReadRecord, ReadTopic } from "./read-topics.ts";

export type Verdict = {
  readonly calls: number;
  readonly lost: number;
  readonly doubled: number;
  readonly allowed: number;
  readonly refused: number;
  readonly held: number;
  readonly problems: readonly string[];
};

export type RunFacts = {
  readonly names: TopicNames;
  readonly read: ReadonlyMap<string, ReadTopic>;
  readonly sent: readonly SentProposal[];
  readonly policies: readonly CompiledPolicy[];
  readonly codec: AvroCodec;
  /** During the run, proposals may not be decided yet. */
  readonly stage: Stage;
};

const PROBLEMS_MAX = 20;

export function checkRun(facts: RunFacts): Verdict {
  const { codec } = facts;
  const partitions = facts.read.get(facts.names.decisions)?.partitions.length ?? 0;
  const problems: string[] = [];
  const journals: (readonly JournalRecord[])[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const read = (topic: Topic) => partitionOf(facts, topic, partition);
    const topicProblems = checkTopics(read, engineOf(facts.policies), codec, facts.stage);
    problems.push(...topicProblems.map((problem) => `partition ${partition}: ${problem}`));
    const journal = read("decisions").map(({ value }) => codec.decodeJournal(value ?? EMPTY));
    journals.push(journal);
    problems.push(
      ...disagreements(journal, facts.policies).map((one) => `partition ${partition}: ${one}`),
    );
  }
  problems.push(...wrongTimes(facts));
  return { ...tally(facts, journals, problems), problems: problems.slice(0, PROBLEMS_MAX) };
}

const EMPTY = new Uint8Array();

function partitionOf({ names, read }: RunFacts, topic: Topic, partition: number) {
  return read.get(names[topic])?.partitions[partition] ?? [];
}

function engineOf(policies: readonly CompiledPolicy[]) {
  const engines = policies.map((policy) => createCoreEngine(policy));
  return (revision: string) => {
    const engine = engines.find(({ policyRevision }) => policyRevision === revision);
    if (engine === undefined) throw new Error(`decided by an unknown policy ${revision}`);
    return engine;
  };
}

/**
 * Checks that append times come from the broker and never fall, since the order of decisions
 * depends on them.
 */
function wrongTimes({ names, read }: RunFacts): readonly string[] {
  return TOPICS.flatMap((topic) =>
    (read.get(names[topic])?.partitions ?? []).flatMap((records: readonly ReadRecord[]) =>
      records.every(({ timestampType }) => timestampType === "LogAppendTime")
        ? []
        : [`${topic} has records that are not of LogAppendTime`],
    ),
  );
}

/** How often each proposal was decided, by `partition/offset`. */
type Decided = ReadonlyMap<string, number>;

/** Checks that each proposal that the broker acknowledged has exactly one journal record. */
function tally(
  facts: RunFacts,
  journals: readonly (readonly JournalRecord[])[],
  problems: string[],
): Omit<Verdict, "problems"> {
  const decided = countDecisions(journals);
  const present = new Set(
    journals.flatMap((_, partition) =>
      partitionOf(facts, "proposals", partition).map(({ offset }) => `${partition}/${offset}`),
    ),
  );
  const isFinished = facts.stage === "finished";
  if (isFinished) problems.push(...missing(present, decided));
  problems.push(...surplus(present, decided));
  const lost = facts.sent.filter((one) => !decided.has(`${one.partition}/${one.offset}`)).length;
  return {
    calls: decided.size,
    lost: isFinished ? lost : 0,
    doubled: [...decided.values()].filter((times) => times > 1).length,
    allowed: countEvents(journals, "allowed"),
    refused: countEvents(journals, "refused"),
    held: countEvents(journals, "held"),
  };
}

function countDecisions(journals: readonly (readonly JournalRecord[])[]): Decided {
  const decided = new Map<string, number>();
  for (const [partition, journal] of journals.entries()) {
    for (const { input } of journal) {
      if (input.type === "idle" || input.at.topic !== "proposals") continue;
      const position = `${partition}/${input.at.offset}`;
      decided.set(position, (decided.get(position) ?? 0) + 1);
    }
  }
  return decided;
}

function missing(present: ReadonlySet<string>, decided: Decided): readonly string[] {
  return [...present]
    .filter((position) => !decided.has(position))
    .map((position) => `the proposal at ${position} has no journal record`);
}

function surplus(present: ReadonlySet<string>, decided: Decided): readonly string[] {
  return [...decided].flatMap(([position, times]) => [
    ...(times > 1 ? [`the proposal at ${position} has ${times} journal records`] : []),
    ...(present.has(position) ? [] : [`the journal decides ${position}, which is not there`]),
  ]);
}

function countEvents(
  journals: readonly (readonly JournalRecord[])[],
  type: "allowed" | "refused" | "held",
): number {
  return journals.flat().reduce((sum, { events }) => {
    return sum + events.filter((event) => event.type === type).length;
  }, 0);
}
