/** A key of the policy under test: two values, and a conversation that tells them apart. */
import type { ProposedCall } from "../../../services/client/api/gate-types.ts";

export interface KeyStep {
  readonly tool?: string;
  readonly args?: object | string;
  readonly output?: unknown;
  /** What the tool's handler returns to `guard`; then nobody reports a status. */
  readonly returns?: unknown;
  readonly fails?: { readonly message: string; readonly code?: string };
  /** Nobody reports what became of it. */
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
  /** Undefined: not written. */
  readonly values: readonly [unknown, unknown];
  /** The rest of the policy; the tool `t` is where `*` stands. */
  readonly base: object;
  readonly steps: readonly KeyStep[];
}
