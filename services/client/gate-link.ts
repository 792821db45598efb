import type { CallAllowed } from "../core/events.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type { Log } from "../runtime/ports.ts";
import type { AvroCodec } from "../wire/codec.ts";
import type { CallgateError } from "./api/callgate-error.ts";
import type { PolicyReload, UnavailableDetail } from "./api/gate-types.ts";

export type JournalListener = (records: readonly CommittedRecord[], partition: number) => void;

/** What a client needs from a gate, whether in this process or behind brokers. */
export interface GateLink {
  readonly log: Log;
  readonly codec: AvroCodec;
  /** Revision of the policy in force; empty if the link cannot tell. */
  readonly policyRevision: string;
  /**
   * True if the gate is elsewhere: a call that cannot be written now is not decided, and may be
   * proposed again.
   */
  readonly isRemote: boolean;
  /** How many bytes of a read's output the gate stores. */
  readonly outputBytes: number;
  /**
   * Once it resolves, listeners receive every later journal record of the partition. Null:
   * listeners receive everything anyway.
   */
  follow(partition: number): Promise<void> | null;
  /** Passes on durable records, once each, in journal order within a partition. */
  onCommitted(listener: JournalListener): void;
  /** Called once when the gate is lost for good. */
  onLost(listener: (error: CallgateError) => void): void;
  /** Null: as far as this process can tell, the gate decides. */
  whyUnavailable(): UnavailableDetail | null;
  /** The error behind `whyUnavailable`, or the latest error. */
  problem(): string | undefined;
  /** The key of an allowed call; undefined without the secret that it is derived from. */
  keyOf(event: CallAllowed): string | undefined;
  /**
   * The arguments of an allowed call as they were sent; undefined if they are sealed and cannot be
   * opened.
   */
  argumentsOf(event: CallAllowed): string | undefined;
  /** Loads the policy again. @throws CallgateError, with the policy before still in force. */
  reloadPolicy(): PolicyReload;
  /** Declares the tools that the program can run to the policy, if the gate is in this process. */
  knowTools(names: readonly string[]): void;
  close(): Promise<void>;
  /** Called if `close` takes too long: nothing may keep the process alive afterwards. */
  abandon(): void;
}
