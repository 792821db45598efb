import type { CallAllowed } from "../core/events.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type { Log } from "../runtime/ports.ts";
import type { AvroCodec } from "../wire/codec.ts";
import type { CallgateError } from "./api/callgate-error.ts";
import type { UnavailableDetail } from "./api/gate-types.ts";

export type JournalListener = (records: readonly CommittedRecord[], partition: number) => void;

/** What a client needs of a gate: of one in this process, or of one behind brokers. */
export interface GateLink {
  readonly log: Log;
  readonly codec: AvroCodec;
  /** Of the policy that decides, as far as it is known; else empty. */
  readonly policyRevision: string;
  /** The gate is elsewhere: what cannot be written now is not decided, and may be asked again. */
  readonly isRemote: boolean;
  /** How much of an output of a read the gate keeps. */
  readonly outputBytes: number;
  /**
   * When it resolves, everything that is journaled in the partition from now on is told. Null: everything
   * is told anyway.
   */
  follow(partition: number): Promise<void> | null;
  /** Records in journal order within a partition, once each, after they are durable. */
  onCommitted(listener: JournalListener): void;
  /** The gate is gone for good; told once. */
  onLost(listener: (error: CallgateError) => void): void;
  /** Null: as far as is known here, it decides. */
  whyUnavailable(): UnavailableDetail | null;
  /** The error behind that, or the last one there was. */
  problem(): string | undefined;
  /** The key of an allowed call; undefined where the secret that it is made with is not at hand. */
  keyOf(event: CallAllowed): string | undefined;
  /** The arguments of an allowed call as they were sent; undefined where they are sealed and cannot be opened. */
  argumentsOf(event: CallAllowed): string | undefined;
  /** Calls that the program can run: they become known to the policy, where it is in this process. */
  knowTools(names: readonly string[]): void;
  close(): Promise<void>;
  /** Called after `close`, where that takes too long: nothing is left that keeps the process alive. */
  abandon(): void;
}
