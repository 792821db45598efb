// One partition of the gate on a log in memory, with the real task and the real core, and JSON
// records.
import { MemoryCheckpoints } from "../../services/adapters/memory/memory-checkpoints.ts";
import { MemoryLog } from "../../services/adapters/memory/memory-log.ts";
import type { ProposalInput } from "../../services/core/inputs.ts";
import { coreFold } from "../../services/runtime/core-engine.ts";
import type { Engine } from "../../services/runtime/engine.ts";
import type { CommittedRecord, JournalRecord } from "../../services/runtime/journal.ts";
import type {
  CheckpointStore,
  Clock,
  LogFields,
  Logger,
  Metrics,
  Ownership,
} from "../../services/runtime/ports.ts";
import { StreamTask } from "../../services/runtime/task.ts";
import {
  defaultTaskOptions,
  type TaskContext,
  type TaskOptions,
} from "../../services/runtime/task-context.ts";
import type { Topic } from "../../services/runtime/topics.ts";
import { createEngines } from "./simulation/engines.ts";
import { decodeJson, encodeJson, jsonCodec } from "./simulation/json-codec.ts";

export const DAY_MS = 86_400_000;
const EVERYTHING = { recordsMax: 1_000_000, bytesMax: Number.MAX_SAFE_INTEGER };

export const noMetrics: Metrics = { count: () => undefined, observe: () => undefined };

export type LoggedLine = {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: LogFields;
};

export function createTestLogger(lines: LoggedLine[]): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A clock that stands still until it is set; sleeping takes no time. */
export class TestClock implements Clock {
  #nowMs = 1_700_000_000_000;

  nowMs(): number {
    return this.#nowMs;
  }

  advance(timeMs: number): void {
    this.#nowMs += timeMs;
  }

  sleep(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

export class RuntimeKit {
  readonly clock = new TestClock();
  readonly log = new MemoryLog({ partitions: 1, clusterId: "c", nowMs: () => this.clock.nowMs() });
  readonly checkpoints = new MemoryCheckpoints();
  readonly lines: LoggedLine[] = [];
  readonly engines = createEngines();
  readonly committed: CommittedRecord[] = [];
  readonly #tasks: StreamTask[] = [];
  #calls = 0;

  /** Starts a task with the default options, except for the given choices. */
  start(
    choices: {
      readonly options?: Partial<TaskOptions>;
      readonly engine?: Engine | null;
      readonly ownership?: Ownership;
      readonly checkpoints?: CheckpointStore | null;
      readonly context?: Partial<TaskContext>;
      /** True: the kit does not listen to the task, and `committed` stays empty. */
      readonly unheard?: boolean;
    } = {},
  ): StreamTask {
    const defaults = defaultTaskOptions({ keepMs: 9 * DAY_MS, journalSpanMs: 8 * DAY_MS });
    const task = new StreamTask(
      {
        partition: 0,
        log: this.log,
        ownership: choices.ownership ?? this.log,
        checkpoints: choices.checkpoints === undefined ? this.checkpoints : choices.checkpoints,
        codec: jsonCodec,
        fold: coreFold,
        clock: this.clock,
        logger: createTestLogger(this.lines),
        metrics: noMetrics,
        options: { ...defaults, waitMsMax: 10, ...choices.options },
        ...choices.context,
      },
      choices.engine === undefined ? this.engines[0] : choices.engine,
    );
    if (choices.unheard !== true) task.onCommitted((records) => this.committed.push(...records));
    this.#tasks.push(task);
    task.start();
    return task;
  }

  proposal(overrides: Partial<ProposalInput> = {}): ProposalInput {
    this.#calls += 1;
    return {
      type: "proposal",
      tenantId: "t",
      conversationId: "c",
      callId: `call-${this.#calls}`,
      agentId: null,
      turn: "1",
      step: null,
      tool: "write_order",
      arguments: `{"order":${this.#calls}}`,
      assistantText: null,
      estimatedCost: null,
      confirmation: null,
      rejected: null,
      ...overrides,
    };
  }

  async propose(overrides: Partial<ProposalInput> = {}): Promise<ProposalInput> {
    const proposal = this.proposal(overrides);
    const key = `${proposal.tenantId}/${proposal.conversationId}`;
    await this.log.append([{ topic: "proposals", partition: 0, key, value: encodeJson(proposal) }]);
    return proposal;
  }

  /** Waits until the journal has so many records. */
  async journaled(count: number): Promise<readonly JournalRecord[]> {
    await until(async () => (await this.log.endOffset("decisions", 0)) >= count);
    return this.journal();
  }

  async journal(): Promise<readonly JournalRecord[]> {
    return (await this.values("decisions")).map((value) => decodeJson<JournalRecord>(value));
  }

  async values(topic: Topic): Promise<readonly (Uint8Array | null)[]> {
    const start = await this.log.startOffset(topic, 0);
    return (await this.log.read(topic, 0, start, EVERYTHING)).records.map(({ value }) => value);
  }

  async close(): Promise<void> {
    for (const task of this.#tasks.splice(0)) await task.close();
    await this.log.close();
  }
}

/** Waits for a condition; the test's own time limit ends the wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 1));
}
