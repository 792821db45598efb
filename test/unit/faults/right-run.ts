// A run as the fault suite judges it, of one partition in memory: everything in it is right.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { topicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { ResultInput, VerdictInput } from "../../../services/core/inputs.ts";
import { createCoreEngine } from "../../../services/runtime/core-engine.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { conversationKey } from "../../../services/runtime/partitioner.ts";
import { INPUT_TOPICS, TOPICS, type Topic } from "../../../services/runtime/topics.ts";
import type { AvroCodec } from "../../../services/wire/codec.ts";
import type { HeldCall } from "../../../services/wire/output-records.ts";
import type { RunFacts } from "../../faults/lab/check-run.ts";
import { openLabCodec, openLabPolicy } from "../../faults/lab/lab-codec.ts";
import { LOAD_POLICY } from "../../faults/lab/load.ts";
import type { ReadRecord } from "../../faults/lab/read-topics.ts";
import { RuntimeKit, until } from "../../support/runtime-kit.ts";

const CALL = { tenantId: "default", conversationId: "c" };
const KEY = conversationKey(CALL.tenantId, CALL.conversationId);
/** Longer than any deadline of the policy. */
const LATER_MS = 10_000;
const EVERYTHING = { recordsMax: 1_000, bytesMax: Number.MAX_SAFE_INTEGER };
const names = topicNames("unit");

/** Allowed, answered, refused, held and approved, held and run out, of unknown outcome: each is in it. */
export async function rightRun(): Promise<RunFacts> {
  const kit = new RuntimeKit();
  const codec = await openLabCodec(["nowhere:9092"], names, undefined);
  const policy = await loadPolicy();
  kit.start({ engine: createCoreEngine(policy), checkpoints: null, context: { codec } });
  const driver = new GateDriver(kit, codec);
  await driver.propose("get_item", 1);
  await driver.report();
  for (const [tool, item] of CALLS) await driver.propose(tool, item);
  await driver.approve();
  kit.clock.advance(LATER_MS);
  await until(async () => (await kit.log.endOffset("verdicts", 0)) > 1);
  await driver.decided();
  const read = new Map(
    await Promise.all(
      TOPICS.map(
        async (topic) => [names[topic], { partitions: [await driver.read(topic)] }] as const,
      ),
    ),
  );
  await kit.close();
  const proposals = read.get(names.proposals)?.partitions[0] ?? [];
  const sent = proposals.map(({ offset }) => ({ partition: 0, offset, ...CALL, callId: "" }));
  return { names, read, sent, codec, policies: [policy], stage: "finished" };
}

/** The first of them is answered from memory; the hold of the last is never answered. */
const CALLS = [
  ["get_item", 1],
  ["add_item", 2],
  ["no_such_tool", 3],
  ["remove_item", 4],
  ["remove_item", 5],
] as const;

export function journalOf({ read, codec }: RunFacts): readonly JournalRecord[] {
  const records = read.get(names.decisions)?.partitions[0] ?? [];
  return records.map(({ value }) => codec.decodeJournal(value ?? new Uint8Array()));
}

/** The same run, had its journal been another. */
export function withJournal(
  run: RunFacts,
  change: (records: readonly ReadRecord[]) => readonly ReadRecord[],
): RunFacts {
  const records = run.read.get(names.decisions)?.partitions[0] ?? [];
  return {
    ...run,
    read: new Map(run.read).set(names.decisions, { partitions: [change(records)] }),
  };
}

async function loadPolicy() {
  const directory = mkdtempSync(join(tmpdir(), "callgate-right-run-"));
  try {
    const file = join(directory, "policy.yaml");
    writeFileSync(file, LOAD_POLICY);
    return await openLabPolicy(file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What is told to the gate, each thing when the one before was decided. */
class GateDriver {
  readonly #kit: RuntimeKit;
  readonly #codec: AvroCodec;
  #calls = 0;

  constructor(kit: RuntimeKit, codec: AvroCodec) {
    this.#kit = kit;
    this.#codec = codec;
  }

  async propose(tool: string, item: number): Promise<void> {
    this.#calls += 1;
    const name = String(this.#calls);
    const value = this.#codec.encodeProposal({
      ...{ ...CALL, callId: name, agentId: null, turn: "1", step: name, tool },
      ...{ arguments: JSON.stringify({ item }), assistantText: null },
      ...{ estimatedCost: null, confirmation: null },
    });
    await this.#append("proposals", value);
  }

  /** That the last allowed call succeeded. */
  async report(): Promise<void> {
    const { decisionId, call } = this.#codec.decodeAllowed(await this.#last("allowed"));
    const { callId } = call;
    const result: ResultInput = {
      ...{ type: "result", ...CALL, callId, decisionId, status: "succeeded", output: "done" },
      ...{ outputDigest: null, outputBytes: null, error: null, durationMs: 1, cost: null },
    };
    await this.#append("results", this.#codec.encodeResult(result));
  }

  /** The first hold. */
  async approve(): Promise<void> {
    const [first] = await this.read("held");
    const { approvalId }: HeldCall = this.#codec.decodeHeld(first?.value ?? new Uint8Array());
    const verdict: VerdictInput = {
      ...{ type: "verdict", kind: "approve", ...CALL, approvalId, decisionId: null },
      ...{ outcome: null, tier: null, tool: null, calls: null, untilMs: null },
      ...{ by: "a person", reason: null },
    };
    await this.#append("verdicts", this.#codec.encodeVerdict(verdict));
  }

  async read(topic: Topic): Promise<readonly ReadRecord[]> {
    const { records } = await this.#kit.log.read(topic, 0, 0, EVERYTHING);
    return records.map(({ offset, appendTimeMs, key, value }) => ({
      ...{ offset, appendTimeMs, timestampType: "LogAppendTime" },
      key: key && Buffer.from(key),
      value: value && Buffer.from(value),
    }));
  }

  /** Until each input has its journal record. */
  async decided(): Promise<void> {
    const { log } = this.#kit;
    const endOf = (topic: Topic) => log.endOffset(topic, 0);
    await until(async () => {
      const ends = await Promise.all(INPUT_TOPICS.map(endOf));
      return (await endOf("decisions")) === ends.reduce((sum, end) => sum + end, 0);
    });
  }

  async #last(topic: Topic): Promise<Uint8Array> {
    return (await this.read(topic)).at(-1)?.value ?? new Uint8Array();
  }

  async #append(topic: Topic, value: Uint8Array): Promise<void> {
    this.#kit.clock.advance(10);
    await this.#kit.log.append([{ topic, partition: 0, key: KEY, value }]);
    await this.decided();
  }
}
