// How a program names a gate elsewhere. Plain types: what is behind them stays out of the package's types.

import type { Topic } from "../../runtime/topics.ts";
import type { CallgateError } from "./callgate-error.ts";
import type { DecisionListener, ProposalToken } from "./gate-types.ts";

/** As the keys under `kafka` in docs/configuration.md. */
export type KafkaConnection = {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  readonly clientId?: string | undefined;
  /** What the names of topics begin with, default `toolcalls`. */
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
  /** The schema registry that the gate uses; absent where it uses none. */
  readonly registry?: RegistryConnection | undefined;
  /**
   * The secret of the gate, only where this program runs tools itself (`guard`): it makes the keys of
   * allowed calls. Programs whose calls an executor runs do without.
   */
  readonly secret?: string | Uint8Array | undefined;
  /** The platform's token, where the gate takes signed proposals alone (`gate.proposals`). */
  readonly token?: ProposalToken | undefined;
  /** Is told of everything that this program has decided: by guarded tools, `propose` and verdicts. */
  readonly onDecision?: DecisionListener | undefined;
  /** How long `propose`, `report`, verdicts and `previousResult` may take until their answer, in ms, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Called once if the log cannot be read any more. Everything is refused from then on. */
  readonly onLost?: ((error: CallgateError) => void) | undefined;
};
