/**
 * A gate that starts decides made-up calls before it joins its group, so that V8 has seen and compiled what runs for each
 * call when the first real one comes. On a log that ends in this process: nothing of it is written anywhere.
 *
 * WARMUP-1 it only ever saves time: whatever goes wrong in it, the gate starts.
 * WARMUP-2 it ends in time, to a batch, however slow the machine is; between batches the process does what else it has to.
 */

import { LoopbackLog } from "../adapters/kafka/loopback-log.ts";
import type { TopicNames } from "../adapters/kafka/topics/topic-names.ts";
import { loadPolicy } from "../adapters/policy/load.ts";
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import { coreFold } from "../runtime/core-engine.ts";
import { conversationKey } from "../runtime/partitioner.ts";
import type { Clock, Codec, Logger, OutgoingRecord } from "../runtime/ports.ts";
import { noMetrics, quietLogger } from "../runtime/quiet-logger.ts";
import { StreamTask } from "../runtime/task.ts";
import type { AvroCodec } from "../wire/codec.ts";
import { capabilities } from "./capabilities.ts";
import { createSwitchableEngine, taskOptionsFor } from "./gate-engine.ts";
import { compileGatePolicy } from "./gate-policy.ts";
import { WARM_UP_POLICY, warmUpJson, warmUpProposal } from "./warm-up-calls.ts";

export type WarmUpParts = {
  /** The gate's own, so that it is this one's code that gets compiled. */
  readonly codec: Codec & Pick<AvroCodec, "encodeProposal">;
  readonly names: TopicNames;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Its secret is the one that the codec has. */
  readonly policy: Pick<CompiledPolicy, "keyId" | "sealing">;
  /** Longest time it may take. */
  readonly forMs: number;
};

/** What V8 needs until its code hardly changes any more; twice as many gave 4 % more. */
const CALLS = 10_000;
const ROUND = 500;
/** Of a batch: what a slow machine decides without a pause. */
const BATCH = { inputsMax: 100, bytesMax: 1024 * 1024 };
const PARTITION = 0;

/** Resolves with the calls that were decided. Never rejects. */
export async function warmUp(parts: WarmUpParts, signal: AbortSignal): Promise<number> {
  const { clock, forMs, logger } = parts;
  const startedMs = clock.nowMs();
  const late = new AbortController();
  let rounds: WarmUp | null = null;
  try {
    rounds = new WarmUp(parts);
    const ends = AbortSignal.any([signal, late.signal]);
    const inTime = clock.sleep(forMs, ends).then(() => late.abort());
    await Promise.race([rounds.run(ends), inTime]);
    const { calls } = rounds;
    logger.info("the gate has warmed up", { calls, elapsedMs: clock.nowMs() - startedMs });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    logger.warn("the gate could not warm up, its first calls take longer", { message });
  } finally {
    late.abort();
    await rounds?.close();
  }
  return rounds?.calls ?? 0;
}

class WarmUp {
  calls = 0;
  readonly #parts: WarmUpParts;
  readonly #log: LoopbackLog;
  readonly #task: StreamTask;
  /** Inputs of which the journal has no record yet, and who waits for them. */
  #open = 0;
  #done: () => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  constructor(parts: WarmUpParts) {
    const { codec, names, clock, policy } = parts;
    this.#parts = parts;
    this.#log = new LoopbackLog(names, () => clock.nowMs());
    const judged = { ...plainPolicy(), keyId: policy.keyId, sealing: policy.sealing };
    this.#task = new StreamTask(
      {
        ...{ partition: PARTITION, log: this.#log, ownership: this.#log, checkpoints: null },
        ...{ codec, clock, fold: coreFold, logger: quietLogger, metrics: noMetrics },
        options: { ...taskOptionsFor(judged, Number.MAX_SAFE_INTEGER), batch: BATCH },
      },
      createSwitchableEngine(judged).engine,
    );
    this.#task.onCommitted(({ length }) => {
      this.#open -= length;
      if (this.#open <= 0) this.#done();
    });
    this.#task.onStatus(({ error }) => {
      if (error !== null) this.#failed(error);
    });
  }

  /** @throws PipelineError: what ended the task. */
  async run(ends: AbortSignal): Promise<void> {
    this.#task.start();
    for (let from = 0; from < CALLS && !ends.aborted; from += ROUND) {
      await this.#decided(Array.from({ length: ROUND }, (_, at) => this.#proposal(from + at)));
      this.calls += ROUND;
    }
  }

  close(): Promise<void> {
    return this.#task.close();
  }

  async #decided(inputs: readonly OutgoingRecord[]): Promise<void> {
    const decided = new Promise<void>((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
    });
    this.#open = inputs.length;
    await this.#log.append(inputs);
    await decided;
  }

  /** Platforms write both: every other one is Avro. */
  #proposal(n: number): OutgoingRecord {
    const envelope = warmUpProposal(n);
    const key = conversationKey(envelope.tenantId, envelope.conversationId);
    const value = n % 2 === 0 ? warmUpJson(n) : this.#parts.codec.encodeProposal(envelope);
    return { topic: "proposals", partition: PARTITION, key, value };
  }
}

function plainPolicy(): CompiledPolicy {
  const result = compileGatePolicy(loadPolicy(WARM_UP_POLICY), capabilities);
  if (result.ok) return result.policy.compiled;
  throw new Error(result.problems.map(({ message }) => message).join("; "));
}
