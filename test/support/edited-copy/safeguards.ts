// The safeguards of the gate by name, each with the edits that remove it in a copy of the sources:
// a test runs the copy to show that its checker notices.
import type { Edit } from "./edited-copy.ts";

const COMMIT = "services/runtime/commit-batch.ts";
const RESTORE = "services/runtime/restore.ts";
const TASK = "services/runtime/task.ts";
const CHECKPOINT = "services/runtime/checkpoint.ts";
const BATCH = "services/runtime/process-batch.ts";
const OWNERSHIP = "services/adapters/kafka/transactions/kafka-ownership.ts";
const WRITER = "services/adapters/kafka/transactions/transactional-writer.ts";
const MEMBERSHIP = "services/adapters/kafka/membership/group-membership.ts";

const catchesUp: Edit = {
  file: RESTORE,
  find: "  const untilMs = context.clock.nowMs() + context.offsetsGraceMs;\n  let replayed = 0;\n",
  replace: "  if (writer !== null) return 0;\n  const untilMs = 0;\n  let replayed = 0;\n",
};

const commits =
  "  const outcome = await writer.commit({ records: sent, consumed: staged.progress.next });\n";

export const RUNTIME_SAFEGUARDS = {
  /** Positions come from the journal's last record, not from the group's recorded offsets. */
  positionsFromJournal: [
    catchesUp,
    {
      file: TASK,
      find: "    const { next } = state.progress;\n",
      replace: "    const next = await writer.recordedOffsets();\n",
    },
  ],
  /** The journal's end is read after the take-over of the partition, not before. */
  endAfterFence: [
    catchesUp,
    {
      file: RESTORE,
      find: "  const writer = await context.ownership.takeOver(context.partition);\n",
      replace:
        "  const before = { inMemory: await takeInMemory(), end: await endOf(context) };\n" +
        "  const writer = await context.ownership.takeOver(context.partition);\n",
    },
    {
      file: RESTORE,
      find: "const start = await takeInMemory();",
      replace: "const start = before.inMemory;",
    },
    {
      file: RESTORE,
      find: "await readState(context, writer, start);",
      replace: "await readState(context, writer, start, before.end);",
    },
    {
      file: RESTORE,
      find: "  inMemory: Start | null,\n): Promise<Omit<Restored",
      replace: "  inMemory: Start | null,\n  end: number,\n): Promise<Omit<Restored",
    },
    { file: RESTORE, find: "    const end = await endOf(context);\n", replace: "" },
  ],
  /** Committed state changes only after the commit. */
  swapAfterCommit: [
    {
      file: COMMIT,
      find: commits,
      replace:
        "  state.apply(staged.change(state.journalOffset + batch.journaled, state.journalTimeMs));\n" +
        commits,
    },
  ],
  /** An unknown outcome leads to another take-over, not to a retry. */
  takeOverOnUnknown: [
    {
      file: TASK,
      find: "    this.#failures.noteFailure(first,",
      replace:
        '    if (outcome.type === "unknown") return this.#queue.reset(run.state.progress);\n' +
        "    this.#failures.noteFailure(first,",
    },
  ],
  /** A journal with a gap or a broken chain is not replayed. */
  chainCheck: [
    {
      file: "services/runtime/replay.ts",
      find: "if (this.#options.checkChain) assertFollows(staged, record, log);",
      replace: "",
    },
  ],
  /** A checkpoint whose digests do not match is ignored. */
  checkpointDigests: [
    {
      file: CHECKPOINT,
      find: "if (checkpoint.count !== blobs.length) {",
      replace: "if (checkpoint.count < 0) {",
    },
    {
      file: CHECKPOINT,
      find: "if (blobDigest(key, seq, hash, bytes) !== digest) {",
      replace: "if (blobDigest(key, seq, hash, bytes) === null) {",
    },
    {
      file: CHECKPOINT,
      find: "if (sum !== checkpoint.digestSum)",
      replace: "if (sum === null)",
    },
  ],
  /** A checkpoint of another log, or of another history of this one, is ignored. */
  checkpointIdentity: [
    {
      file: CHECKPOINT,
      find: "const problem = await findForeign(checkpoint.header, context);",
      replace: "const problem: string | null = null;",
    },
  ],
  /** What comes back from the state store is the version that left memory. */
  storedVersions: [
    {
      file: "services/runtime/cold-conversations.ts",
      find: "if (blob.seq !== seq) throw",
      replace: "if (blob.seq < 0) throw",
    },
    {
      file: "services/runtime/cold-conversations.ts",
      find: "if (blobDigest(key, seq, blob.hash, blob.bytes) !== blob.digest) {",
      replace: "if (blobDigest(key, seq, blob.hash, blob.bytes) === null) {",
    },
  ],
  /** A conversation leaves memory only when the state store has its newest version. */
  savedBeforeCold: [
    {
      file: "services/runtime/partition-state.ts",
      find: "      if (this.unsaved.inStore.has(key)) continue;\n",
      replace: "",
    },
    {
      file: "services/runtime/cold-conversations.ts",
      find: "if (blob.seq !== seq) throw",
      replace: "if (blob.seq < 0) throw",
    },
    {
      file: "services/runtime/cold-conversations.ts",
      find: "if (blobDigest(key, seq, blob.hash, blob.bytes) !== blob.digest) {",
      replace: "if (blobDigest(key, seq, blob.hash, blob.bytes) === null) {",
    },
  ],
  /** Journal and decisions are written together. Without it: the journal first. */
  oneCommit: [
    {
      file: COMMIT,
      find: commits,
      replace: "  const outcome = await commitApart(writer, batch);\n",
    },
    {
      file: COMMIT,
      find: "export type BatchOutcome =",
      replace: `async function commitApart(writer: PartitionWriter, batch: StagedBatch) {
  const consumed = batch.staged.progress.next;
  const appended: { offset: number; appendTimeMs: number }[] = [];
  for (const journalFirst of [true, false]) {
    const indexes = [...batch.records.keys()].filter(
      (index) => (batch.records[index]?.topic === "decisions") === journalFirst,
    );
    const records = indexes.flatMap((index) => batch.records[index] ?? []);
    const outcome = await writer.commit({ records, consumed });
    if (outcome.type !== "committed") return outcome;
    for (const [at, index] of indexes.entries()) {
      const place = outcome.appended[at];
      if (place !== undefined) appended[index] = place;
    }
  }
  return { type: "committed" as const, appended };
}

export type BatchOutcome =`,
    },
  ],
  /** Gate time never falls. */
  monotoneTime: [
    {
      file: BATCH,
      find: "const clockMs = Math.max(progress.clocks[at.topic], at.appendTimeMs);",
      replace: "const clockMs = at.appendTimeMs;",
    },
  ],
  /** A record that cannot be processed goes to the dead letters. */
  quarantine: [
    { file: BATCH, find: "if (isOurs || isForNow) throw error;", replace: "throw error;" },
  ],
} as const satisfies Record<string, readonly Edit[]>;

/** The safeguards of the rules in docs/kafka.md. */
export const KAFKA_SAFEGUARDS = {
  /** KAFKA-1: each partition has its transactional id. Without it: each process has one. */
  idOfPartition: [
    {
      file: OWNERSHIP,
      find: '[settings.app, settings.group, partition].join(".")',
      replace: '[settings.app, settings.group, partition, this.#writerId].join(".")',
    },
    {
      file: OWNERSHIP,
      find: "  readonly #admin: SharedAdmin;\n",
      replace: "  readonly #writerId = Math.random();\n  readonly #admin: SharedAdmin;\n",
    },
  ],
  /** KAFKA-4: after an uncertain outcome the producer is dropped. Without it: it is used again. */
  freshProducer: [
    {
      file: OWNERSHIP,
      find: "    const producer = await this.#initializeProducer(partition);\n",
      replace:
        "    const producer = this.#producers.get(partition) ?? (await this.#initializeProducer(partition));\n" +
        "    this.#producers.set(partition, producer);\n",
    },
    {
      file: OWNERSHIP,
      find: "  readonly #admin: SharedAdmin;\n",
      replace:
        "  readonly #producers = new Map<number, Producer>();\n  readonly #admin: SharedAdmin;\n",
    },
    {
      file: OWNERSHIP,
      find: "    await Promise.all([this.#admin.close(), this.#unfinished?.close()]);\n",
      replace:
        "    for (const producer of this.#producers.values()) void producer.disconnect();\n" +
        "    await Promise.all([this.#admin.close(), this.#unfinished?.close()]);\n",
    },
    {
      file: WRITER,
      find: "    const discarded = this.#discard();\n",
      replace: "    const discarded = Promise.resolve();\n",
    },
    { file: WRITER, find: "    void this.#discard();\n", replace: "" },
  ],
  /**
   * KAFKA-5: a fenced owner takes over again only if the group says that the partition is still
   * ours.
   */
  askGroup: [
    {
      file: WRITER,
      find: "    if (isFencedCode(protocolCode(cause))) {\n",
      replace: "    if (isFencedCode(protocolCode(cause)) && atMs < 0) {\n",
    },
  ],
  /** KAFKA-6: one send is in flight. Without it: one for each topic at the same time. */
  oneSend: [
    {
      file: WRITER,
      find: "    return transaction.sendBatch({ acks: -1, topicMessages });\n",
      replace:
        "    const parts = topicMessages.map((one) =>\n" +
        "      transaction.sendBatch({ acks: -1, topicMessages: [one] }),\n    );\n" +
        "    return (await Promise.all(parts)).flat();\n",
    },
  ],
  /** KAFKA-6 for writers outside the gate. */
  oneAppend: [
    {
      file: "services/adapters/kafka/append-queue.ts",
      find: "      this.#pending.push({ records, resolve, reject });\n      this.#running ??= this.#run();\n",
      replace: "      void this.#sendGroup([{ records, resolve, reject }]);\n",
    },
  ],
  /** KAFKA-7: a record that was not acknowledged is an error. */
  acknowledged: [
    {
      file: WRITER,
      find: "    return records.map((record) => sent.take(record));\n",
      replace:
        "    const answered = new Set(metadata.map(({ topicName }) => topicName));\n" +
        "    return records.map((record) =>\n" +
        "      answered.has(this.#context.names[record.topic])\n" +
        "        ? sent.take(record)\n" +
        "        : { offset: -1, appendTimeMs: -1 },\n    );\n",
    },
  ],
  /**
   * WRITER-4: an owner that finds foreign records in its journal stops. Without it: it continues
   * beside them.
   */
  soleWriter: [
    {
      file: OWNERSHIP,
      find: "    if (journal === undefined) return null;\n",
      replace: "    if (journal === undefined || partition >= 0) return null;\n",
    },
  ],
  /**
   * KAFKA-17: partitions of all inputs are assigned together. Without it: each separately, in turn.
   */
  assignPartitions: [
    {
      file: MEMBERSHIP,
      find: "partitionAssigners: [createPartitionAssigner(claim)],",
      replace: "partitionAssigners: [loadKafkajs().PartitionAssigners.roundRobin],",
    },
    {
      file: MEMBERSHIP,
      find: 'import { GroupPulse, REBALANCE_TIMEOUT_MS } from "./group-pulse.ts";\n',
      replace:
        'import { GroupPulse, REBALANCE_TIMEOUT_MS } from "./group-pulse.ts";\n' +
        'import { loadKafkajs } from "../patches/load-kafkajs.ts";\n',
    },
    {
      file: MEMBERSHIP,
      find: "if (has.length === inputs.length) partitions.push(partition);",
      replace: "if (has.length > 0) partitions.push(partition);",
    },
  ],
  /** A reader of committed records drops aborted ones. */
  filterAborted: [
    {
      file: "services/adapters/kafka/records/record-batches.ts",
      find: "committed ? fetched.aborted : []",
      replace: "[]",
    },
  ],
} as const satisfies Record<string, readonly Edit[]>;

const sendsOnce: Edit = {
  file: "services/adapters/kafka/patches/load-kafkajs.ts",
  find: "  sendMessagesOnce();\n}\n",
  replace: "}\n",
};

/** Sends as kafkajs makes them, and the safeguards that remain then. */
export const STOCK_SENDS = {
  sendsOfKafkajs: [sendsOnce],
  sendsUnacknowledged: [sendsOnce, ...KAFKA_SAFEGUARDS.acknowledged],
  sendsBesideOthers: [sendsOnce, ...KAFKA_SAFEGUARDS.soleWriter],
} as const satisfies Record<string, readonly Edit[]>;
