import { LIMITS } from "../core/limits.ts";
import { Listeners } from "../runtime/listeners.ts";
import type { Clock, Log, Logger } from "../runtime/ports.ts";
import { quietLogger } from "../runtime/quiet-logger.ts";
import type { AvroCodec } from "../wire/codec.ts";
import { keyOfAllowed, openedArguments } from "../wire/encode-outputs.ts";
import { asCallgateError, CallgateError } from "./api/callgate-error.ts";
import type { PolicyReload, UnavailableDetail } from "./api/gate-types.ts";
import type { GateLink, JournalListener } from "./gate-link.ts";
import { JournalFollower } from "./journal/follow-journal.ts";

/** What this process knows of a gate that it may itself be. */
export type NearbyGate = {
  /** Undefined: another process decides. */
  readonly policyRevision: string | undefined;
  whyUnavailable(): UnavailableDetail | null;
  problem(): string | undefined;
  reloadPolicy(): PolicyReload;
  knowTools(names: readonly string[]): void;
};

export type RemoteLinkParts = {
  readonly log: Log;
  readonly codec: AvroCodec;
  readonly clock: Clock;
  /** By key id; empty if only the executors derive keys. */
  readonly secrets: ReadonlyMap<string, Uint8Array>;
  /** Absent: logs nothing. */
  readonly logger?: Logger;
  /** Closes the connections of `log`. */
  readonly close: () => Promise<void>;
  /** Absent: only other processes can be the gate. */
  readonly nearby?: NearbyGate;
  /** As `close`, at once: the brokers do not answer. */
  readonly abandon: () => void;
};

const NO_SECRET =
  "tools that this program runs itself need the secret of the gate, from which the keys of their calls are derived: pass `secret` to " +
  "`connectCallgate`, or let an executor run the tools and call `propose` here";

export const NOT_HERE =
  "the gate decides in another process, which loads its policy again when the files change";

/** Links to a gate behind the log by reading its journal. The link cannot see the gate's health. */
export function linkToRemote(parts: RemoteLinkParts): GateLink {
  const { log, codec, clock, secrets, nearby } = parts;
  const listeners: JournalListener[] = [];
  // An error that the program's listener throws must not end the process: nobody is there to catch
  // it.
  const lost = new Listeners<CallgateError>(parts.logger ?? quietLogger);
  let policyRevision = "";
  let failure: CallgateError | undefined;
  const follower = new JournalFollower({
    ...{ log, codec, clock },
    notify: (records, partition) => {
      policyRevision = records.at(-1)?.record.policyRevision ?? policyRevision;
      for (const listener of listeners) listener(records, partition);
    },
    lost: (error) => {
      failure = asCallgateError(error);
      lost.tell(failure);
    },
  });
  return {
    log,
    codec,
    isRemote: true,
    get policyRevision() {
      return nearby?.policyRevision ?? policyRevision;
    },
    // The gate cuts what its policy does not store.
    outputBytes: LIMITS.outputBytesMax,
    follow: (partition) => follower.follow(partition),
    onCommitted: (listener) => void listeners.push(listener),
    onLost: (listener) => void lost.add(listener),
    whyUnavailable: () => (failure === undefined ? (nearby?.whyUnavailable() ?? null) : "closed"),
    problem: () => failure?.message ?? nearby?.problem() ?? follower.problem,
    keyOf: (event) => (secrets.has(event.keyId) ? keyOfAllowed(secrets, event) : undefined),
    argumentsOf: (event) => openedArguments(secrets, event) ?? undefined,
    reloadPolicy: () => {
      if (nearby !== undefined) return nearby.reloadPolicy();
      throw new CallgateError("invalid_input", NOT_HERE);
    },
    knowTools: (names) => {
      nearby?.knowTools(names);
      if (secrets.size === 0) throw new CallgateError("secret_unreadable", NO_SECRET);
    },
    close: async () => {
      await follower.close();
      await parts.close();
    },
    abandon: () => parts.abandon(),
  };
}
