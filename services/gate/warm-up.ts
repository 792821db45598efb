/**
 * A starting gate decides made-up calls before it joins its group, so that V8 has compiled the code
 * of a decision when the first real call comes. The calls go to a log in memory: nothing of them is
 * stored.
 *
 * WARMUP-1 it only ever saves time: whatever goes wrong in it, the gate starts.
 * WARMUP-2 it ends in time, within a batch, however slow the machine is; between batches the
 *    process does its other work.
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
  /** The gate's own codec, so that its code is what V8 compiles. */
  readonly codec: Codec & Pick<AvroCodec, "encodeProposal">;
  readonly names: TopicNames;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The gate's policy, whose secret the codec has. */
  readonly policy: Pick<CompiledPolicy, "keyId" | "sealing">;
  /** Longest time that it may take, ms. */
  readonly forMs: number;
};

/** After so many calls V8 hardly changes its code any more; twice as many gave 4 % more. */
const CALLS = 10_000;
const ROUND = 500;
/** So many calls a slow machine decides without a noticeable pause. */
const BATCH = { inputsMax: 100, bytesMax: 1024 * 1024 };
const PARTITION = 0;

/** Resolves with the number of decided calls. Never rejects. */
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
    logger.warn("the gate could not warm up: its first calls take longer", { message });
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
  /** Number of inputs without a journal record, and who waits for them. */
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

  /** @throws PipelineError: the error that ended the task. */
  async run(ends: AbortSignal): Promise<void> {
    this.#task.start();
    for (let from = 0; from < CALLS && !ends.aborted; from += ROUND) {
      await this.#awaitDecisions(
        Array.from({ length: ROUND }, (_, at) => this.#proposal(from + at)),
      );
      this.calls += ROUND;
    }
  }

  close(): Promise<void> {
    return this.#task.close();
  }

  async #awaitDecisions(inputs: readonly OutgoingRecord[]): Promise<void> {
    const decided = new Promise<void>((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
    });
    this.#open = inputs.length;
    await this.#log.append(inputs);
    await decided;
  }

  /** Platforms write both formats, so every other proposal is Avro. */
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
