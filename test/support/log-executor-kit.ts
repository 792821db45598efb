// An executor beside a gate in memory.
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../services/adapters/system/clock.ts";
import type { Handler } from "../../services/client/calls/run-call.ts";
import { GateClient } from "../../services/client/gate-client.ts";
import { LogExecutor, type LogExecutorParts } from "../../services/executor/log-executor.ts";
import { linkToEmbedded } from "../../services/library/embedded-link.ts";
import { type Embedded, openEmbedded } from "../../services/library/open-embedded.ts";
import { FencedError } from "../../services/runtime/errors.ts";
import type {
  CommitOutcome,
  Log,
  LogFields,
  Logger,
  OutgoingRecord,
  Ownership,
  PartitionWriter,
} from "../../services/runtime/ports.ts";
import { quietLogger } from "../../services/runtime/quiet-logger.ts";
import { NO_POSITION } from "../../services/runtime/topics.ts";

const POLICY = {
  tool_schemas: { pay: { idempotency_argument: "key" }, read: { read_only: true }, other: {} },
};

export async function openGate(pay: object = {}) {
  const tools = { ...POLICY.tool_schemas, pay: { ...POLICY.tool_schemas.pay, ...pay } };
  const document = { tool_schemas: tools };
  const embedded = await openEmbedded({ policy: { document }, dataDir: false });
  onTestFinished(() => embedded.close());
  const client = new GateClient(linkToEmbedded(embedded), { timeoutMs: 10_000, onLost: undefined });
  let calls = 0;
  const propose = async (tool: string, args: object, conversationId = "c1") => {
    calls += 1;
    const call = { conversationId, turn: 1, step: calls, callId: `call-${calls}`, tool };
    return (await client.propose({ ...call, arguments: args })).decision;
  };
  /** The reports to the gate about a decision, in order. */
  const readStatuses = async (decisionId: string | undefined): Promise<readonly string[]> => {
    const limits = { recordsMax: 1_000, bytesMax: 10_000_000 };
    const { records } = await embedded.log.read("results", 0, 0, limits);
    return records.flatMap(({ value }) => {
      const decoded = embedded.codec.decodeInput("results", value);
      if (!decoded.ok || decoded.input.type !== "result") return [];
      return decoded.input.decisionId === decisionId ? [decoded.input.status] : [];
    });
  };
  return { embedded, propose, readStatuses };
}

type Handlers = Readonly<Record<string, Handler>>;

export async function startExecutor(
  { log, codec }: Embedded,
  handlers: Handlers,
  overrides: Partial<LogExecutorParts> = {},
): Promise<LogExecutor> {
  const parts = { log, codec, clock: systemClock, logger: quietLogger, partition: 0, handlers };
  const executor = new LogExecutor({ ...parts, ownership: null, parallelCalls: 256, ...overrides });
  executor.start();
  onTestFinished(() => executor.close(0));
  await expect.poll(() => executor.status.state).toBe("running");
  return executor;
}

/** Fences as brokers do, beside the gate's own log: `started` of an earlier owner is refused. */
export class FencingOwnership implements Ownership {
  readonly #log: Log;
  /** Each commit takes the next outcome: how it ends, after it was appended or not. */
  readonly outcomes: ("unknown, done" | "unknown, not done")[] = [];
  #epoch = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  async takeOver(partition: number): Promise<PartitionWriter> {
    this.#epoch += 1;
    const epoch = this.#epoch;
    return {
      partition,
      recordedOffsets: async () => NO_POSITION,
      commit: ({ records }) => this.#commit(epoch, records),
      close: async () => undefined,
    };
  }

  async #commit(epoch: number, records: readonly OutgoingRecord[]): Promise<CommitOutcome> {
    if (epoch !== this.#epoch) throw new FencedError("another executor has the partition");
    const outcome = this.outcomes.shift();
    const error = new Error("no answer");
    if (outcome === "unknown, not done") return { type: "unknown", error };
    const appended = await this.#log.append(records);
    return outcome === undefined ? { type: "committed", appended } : { type: "unknown", error };
  }
}

export type Line = readonly [level: string, message: string, fields: LogFields];

/** A logger that records its lines. */
export function createLineLogger(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const keep =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push([level, message, fields]);
  const logger = {
    ...{ debug: keep("debug"), info: keep("info") },
    ...{ warn: keep("warn"), error: keep("error") },
  };
  return { logger, lines };
}

/** The log with another `append`. */
export function appendingBy(log: Log, append: Log["append"]): Log {
  return Object.assign(Object.create(log) as Log, {
    append,
    read: log.read.bind(log),
    endOffset: log.endOffset.bind(log),
    startOffset: log.startOffset.bind(log),
    waitForNew: log.waitForNew.bind(log),
  });
}
