import { LIMITS } from "../core/limits.ts";
import { Listeners } from "../runtime/listeners.ts";
import type { Clock, Log, Logger } from "../runtime/ports.ts";
import { quietLogger } from "../runtime/quiet-logger.ts";
import type { AvroCodec } from "../wire/codec.ts";
import { keyOfAllowed, openedArguments } from "../wire/encode-outputs.ts";
import { asCallgateError, CallgateError } from "./api/callgate-error.ts";
import type { GateLink, JournalListener } from "./gate-link.ts";
import { JournalFollower } from "./journal/follow-journal.ts";

export type RemoteLinkParts = {
  readonly log: Log;
  readonly codec: AvroCodec;
  readonly clock: Clock;
  /** By key id; empty where keys are the executors' business alone. */
  readonly secrets: ReadonlyMap<string, Uint8Array>;
  /** Absent: quiet. */
  readonly logger?: Logger;
  /** Lets go of what `log` stands on. */
  readonly close: () => Promise<void>;
  /** As `close`, at once: nothing that `log` stands on answers. */
  readonly abandon: () => void;
};

const NO_SECRET =
  "tools that this program runs itself need the secret of the gate, which makes the keys of their calls: pass `secret` to " +
  "`connectCallgate`; without it an executor runs them, and this program asks by `propose`";

/** A gate behind the log: what it decides is read from its journal. Nothing is known of its health. */
export function linkToRemote(parts: RemoteLinkParts): GateLink {
  const { log, codec, clock, secrets } = parts;
  const listeners: JournalListener[] = [];
  // What a program throws when it is told must not end its process: nobody is there to catch it.
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
      return policyRevision;
    },
    // The gate cuts what its policy does not keep.
    outputBytes: LIMITS.outputBytesMax,
    follow: (partition) => follower.follow(partition),
    onCommitted: (listener) => void listeners.push(listener),
    onLost: (listener) => void lost.add(listener),
    whyUnavailable: () => (failure === undefined ? null : "closed"),
    problem: () => failure?.message ?? follower.problem,
    keyOf: (event) => (secrets.has(event.keyId) ? keyOfAllowed(secrets, event) : undefined),
    argumentsOf: (event) => openedArguments(secrets, event) ?? undefined,
    knowTools: () => {
      if (secrets.size === 0) throw new CallgateError("secret_unreadable", NO_SECRET);
    },
    close: async () => {
      await follower.close();
      await parts.close();
    },
    abandon: () => parts.abandon(),
  };
}
