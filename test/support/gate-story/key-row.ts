/** A policy key under test: two values, and a conversation that they decide differently. */
import type { ProposedCall } from "../../../services/client/api/gate-types.ts";

export interface KeyStep {
  readonly tool?: string;
  readonly args?: object | string;
  readonly output?: unknown;
  /** The value that the tool's handler returns to `guard`, which then reports the status. */
  readonly returns?: unknown;
  readonly fails?: { readonly message: string; readonly code?: string };
  /** Nobody reports the outcome. */
  readonly unreported?: boolean;
  readonly overrides?: Partial<ProposedCall>;
  readonly afterMs?: number;
  readonly turn?: number;
  /** A verdict on the latest held call. */
  readonly approve?: { readonly by: string; readonly reason?: string };
}

export interface KeyRow {
  /** As the schema names it: `*` is any tool, `[]` any element. */
  readonly key: string;
  /** What `*` in the key stands for; default: `t`. */
  readonly name?: string;
  /** Undefined: the key is not written. */
  readonly values: readonly [unknown, unknown];
  /** The rest of the policy; `*` stands for the tool `t`. */
  readonly base: object;
  readonly steps: readonly KeyStep[];
}
