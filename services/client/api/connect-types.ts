// How a program connects to a gate elsewhere. Plain types, so that the implementation stays out of
// the package's types.

import type { Topic } from "../../runtime/topics.ts";
import type { CallgateError } from "./callgate-error.ts";
import type { ProposalToken, SecretOption } from "./gate-types.ts";

/** The same keys as under `kafka` in docs/configuration.md. */
export type KafkaConnection = {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  readonly clientId?: string | undefined;
  /** The beginning of all topic names, default `toolcalls`. */
  readonly topicPrefix?: string | undefined;
  readonly topics?: { readonly [topic in Topic]?: string | undefined } | undefined;
  readonly ssl?:
    | {
        readonly enabled: boolean;
        readonly caFile?: string | undefined;
        readonly certFile?: string | undefined;
        readonly keyFile?: string | undefined;
        readonly passphrase?: string | undefined;
        readonly serverName?: string | undefined;
      }
    | undefined;
  readonly sasl?:
    | {
        readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
        readonly username: string;
        readonly password: string;
      }
    | undefined;
  readonly connectionTimeoutMs?: number | undefined;
  readonly requestTimeoutMs?: number | undefined;
};

export type RegistryConnection = {
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
};

export type ConnectOptions = {
  readonly kafka: KafkaConnection;
  /** The schema registry of the gate; absent if it uses none. */
  readonly registry?: RegistryConnection | undefined;
  /**
   * The gate's secret, from which this program derives idempotency keys. Only a program that runs
   * tools itself (`guard`) needs it; a program whose calls an executor runs does not. A list while one
   * secret replaces another.
   */
  readonly secret?: SecretOption | undefined;
  /** The platform's token, if the gate accepts only signed proposals (`gate.proposals`). */
  readonly token?: ProposalToken | undefined;
  /** Time limit for `propose`, `report`, verdicts and `previousResult`, in ms, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Called once when the log can no longer be read. From then on every call is refused. */
  readonly onLost?: ((error: CallgateError) => void) | undefined;
};
